//! TypeScript of a JSON Schema as [`super::schema`] has it: a named interface for each shape, a union of named
//! interfaces for each choice, and the words of the schema as comments.
//!
//! What the schema could say and does not is no shape of ours: it fails, so that nobody gets `any` unawares.

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use std::fmt::Write as _;

const HEAD: &str = "\
// What `lookback relay` takes and gives.
// Written by `cargo xtask docs` from docs/reference/session-query.schema.json. Change the Rust types, not this file.
";

/// The widest line of a comment.
const WIDTH: usize = 100;

type Members = Map<String, Value>;

/// The file as it should be.
pub(super) fn page(schema: &str) -> Result<String> {
    let schema: Value = serde_json::from_str(schema).context("the schema is no JSON")?;
    let mut out = HEAD.to_owned();
    methods(object(&schema, "methods")?, &mut out)?;
    for (name, shape) in object(&schema, "$defs")? {
        let shape = shape
            .as_object()
            .with_context(|| format!("{name} is no object"))?;
        declare(name, shape, &mut out).with_context(|| format!("in {name}"))?;
    }
    Ok(out)
}

fn object<'a>(value: &'a Value, name: &str) -> Result<&'a Members> {
    value
        .get(name)
        .and_then(Value::as_object)
        .with_context(|| format!("no {name}"))
}

/// One interface by which a client knows what each method takes and gives.
fn methods(methods: &Members, out: &mut String) -> Result<()> {
    comment("Each method with its params and its result.", "", out);
    out.push_str("export interface SessionQueryMethods {\n");
    for (name, method) in methods {
        let of = |part| {
            type_of(
                method
                    .get(part)
                    .with_context(|| format!("{name} has no {part}"))?,
            )
        };
        writeln!(
            out,
            "  {name:?}: {{ params: {}; result: {} }};",
            of("params")?,
            of("result")?
        )?;
    }
    out.push_str("}\n");
    Ok(())
}

/// A shape of the schema under its name.
fn declare(name: &str, shape: &Members, out: &mut String) -> Result<()> {
    if let Some(choices) = choices(shape) {
        return declare_choice(name, shape, choices, out);
    }
    if let Some(parts) = shape.get("allOf").and_then(Value::as_array) {
        let fields = format!("{name}Fields");
        declare_interface(
            &fields,
            shape,
            &format!("The members of {name} beside its choices."),
            out,
        )?;
        let mut types = vec![fields];
        for part in parts {
            types.push(type_of(part)?);
        }
        describe(shape, "", out);
        writeln!(out, "export type {name} = {};", types.join(" & "))?;
        return Ok(());
    }
    if shape.contains_key("properties") || is_open(shape) {
        return declare_interface(name, shape, description(shape), out);
    }
    describe(shape, "", out);
    match type_of(&Value::Object(shape.clone()))?.as_str() {
        // An object without members.
        "object" => writeln!(out, "export type {name} = Record<string, never>;")?,
        plain => writeln!(out, "export type {name} = {plain};")?,
    }
    Ok(())
}

fn choices(shape: &Members) -> Option<&Vec<Value>> {
    shape.get("oneOf").or_else(|| shape.get("anyOf"))?.as_array()
}

/// A union. Alternatives that have members get a name of their own: that of the word that tells them apart,
/// before the name of the union.
fn declare_choice(name: &str, shape: &Members, choices: &[Value], out: &mut String) -> Result<()> {
    let mut known = Vec::new();
    let mut other = Vec::new();
    for choice in choices {
        let members = choice.as_object().context("a choice is no object")?;
        if let Some(word) = members.get("const") {
            known.push((word.to_string(), description(members).to_owned()));
        } else if let Some(word) = tag(members) {
            let own = format!("{}{name}", pascal(word));
            declare_interface(&own, members, description(members), out)?;
            known.push((own, String::new()));
        } else if members.contains_key("$ref") {
            other.push(type_of(choice)?);
        } else {
            let own = format!("Other{name}");
            declare_interface(&own, members, description(members), out)?;
            other.push(own);
        }
    }
    // Beside a choice of any kind, TypeScript could not tell the known ones apart.
    let union = if other.is_empty() {
        name.to_owned()
    } else {
        format!("Known{name}")
    };
    if other.is_empty() {
        describe(shape, "", out);
    } else {
        comment(&format!("The alternatives of {name} that have a name."), "", out);
    }
    write!(out, "export type {union} =")?;
    for (alternative, words) in known {
        out.push('\n');
        comment_line(&words, "  ", out);
        write!(out, "  | {alternative}")?;
    }
    out.push_str(";\n");
    if !other.is_empty() {
        describe(shape, "", out);
        writeln!(out, "export type {name} = {union} | {};", other.join(" | "))?;
    }
    Ok(())
}

/// The word that tells an alternative apart: its one constant member.
fn tag(members: &Members) -> Option<&str> {
    let properties = members.get("properties")?.as_object()?;
    properties
        .values()
        .find_map(|property| property.get("const")?.as_str())
}

/// `tool/call` and `tool-call` as `ToolCall`.
fn pascal(word: &str) -> String {
    let parts = word.split(|character: char| !character.is_alphanumeric());
    let mut name = String::new();
    for part in parts {
        let mut characters = part.chars();
        name.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(characters.as_str());
    }
    name
}

fn is_open(shape: &Members) -> bool {
    shape.get("additionalProperties") == Some(&Value::Bool(true))
}

fn declare_interface(name: &str, shape: &Members, words: &str, out: &mut String) -> Result<()> {
    comment(words, "", out);
    writeln!(out, "export interface {name} {{")?;
    let none = Members::new();
    let properties = shape
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    let required: Vec<&str> = shape
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    // Those that are always there come first, as they are declared.
    let optional = properties
        .keys()
        .map(String::as_str)
        .filter(|key| !required.contains(key));
    for key in required.iter().copied().chain(optional) {
        let property = properties
            .get(key)
            .with_context(|| format!("{key} is required and not there"))?;
        let words = property
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        comment_line(words, "  ", out);
        let mark = if required.contains(&key) { "" } else { "?" };
        let of = type_of(property).with_context(|| format!("in {key}"))?;
        writeln!(out, "  {key}{mark}: {of};")?;
    }
    if is_open(shape) {
        out.push_str("  [member: string]: unknown;\n");
    }
    out.push_str("}\n");
    Ok(())
}

/// The type of a place in the schema, on one line.
fn type_of(schema: &Value) -> Result<String> {
    let Some(members) = schema.as_object() else {
        return Ok("unknown".to_owned());
    };
    if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        return Ok(name.to_owned());
    }
    if let Some(word) = members.get("const") {
        return Ok(word.to_string());
    }
    match members.get("type") {
        Some(Value::String(kind)) => plain(kind, members),
        Some(Value::Array(kinds)) => {
            let kinds = kinds
                .iter()
                .map(|kind| plain(kind.as_str().unwrap_or_default(), members));
            Ok(kinds.collect::<Result<Vec<_>>>()?.join(" | "))
        }
        None if !members.keys().any(|key| key.ends_with("Of")) => Ok("unknown".to_owned()),
        _ => bail!("no type is known for {schema}"),
    }
}

fn plain(kind: &str, members: &Members) -> Result<String> {
    Ok(match kind {
        "string" | "boolean" | "null" | "object" => kind.to_owned(),
        "integer" | "number" => "number".to_owned(),
        "array" => {
            let of = type_of(members.get("items").context("an array of nothing")?)?;
            if of.contains(' ') {
                format!("({of})[]")
            } else {
                format!("{of}[]")
            }
        }
        other => bail!("no type is known for {other}"),
    })
}

fn description(shape: &Members) -> &str {
    shape
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn describe(shape: &Members, indent: &str, out: &mut String) {
    comment(description(shape), indent, out);
}

/// The words of a declaration, after an empty line.
fn comment(words: &str, indent: &str, out: &mut String) {
    out.push('\n');
    comment_line(words, indent, out);
}

/// A comment for documentation; broken into lines when it is long.
fn comment_line(words: &str, indent: &str, out: &mut String) {
    let words = words.replace("*/", "*\\/");
    let whole = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if whole.is_empty() {
        return;
    }
    if whole.len() + indent.len() + "/**  */".len() <= WIDTH {
        out.push_str(&format!("{indent}/** {whole} */\n"));
        return;
    }
    out.push_str(&format!("{indent}/**\n"));
    let mut line = String::new();
    for word in whole.split(' ') {
        if !line.is_empty() && indent.len() + line.len() + word.len() + " *  ".len() > WIDTH {
            out.push_str(&format!("{indent} * {line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    out.push_str(&format!("{indent} * {line}\n{indent} */\n"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(defs: Value) -> String {
        let schema = json!({ "methods": {}, "$defs": defs }).to_string();
        let page = page(&schema).unwrap();
        let (_, shapes) = page
            .split_once("export interface SessionQueryMethods {\n}\n")
            .unwrap();
        shapes.trim().to_owned()
    }

    /// Property: members keep their words, what may be left out is marked, and `null` shows.
    #[test]
    fn an_object_is_an_interface() {
        let shape = json!({
            "type": "object",
            "description": "A thing.",
            "properties": {
                "b": { "type": "string", "description": "Its name." },
                "a": { "type": "array", "items": { "type": ["string", "null"] } },
                "c": { "$ref": "#/$defs/Thing" },
                "d": true,
            },
            "required": ["b", "a"],
        });
        let expected = "/** A thing. */\nexport interface Thing {\n  /** Its name. */\n  b: string;\n  \
                        a: (string | null)[];\n  c?: Thing;\n  d?: unknown;\n}";
        assert_eq!(written(json!({ "Thing": shape })), expected);
    }

    /// Property: each alternative has a name, and those that can be told apart stand by themselves.
    #[test]
    fn a_choice_is_a_union_of_names() {
        let by = |word: &str| json!({ "type": "object", "properties": { "kind": { "const": word } }, "required": ["kind"] });
        let filter = json!({ "Filter": { "oneOf": [by("created-at"), by("id")] } });
        let expected = "export interface CreatedAtFilter {\n  kind: \"created-at\";\n}\n\n\
                        export interface IdFilter {\n  kind: \"id\";\n}\n\n\
                        export type Filter =\n  | CreatedAtFilter\n  | IdFilter;";
        assert_eq!(written(filter), expected);
        let open =
            json!({ "Block": { "anyOf": [by("text"), { "type": "object", "additionalProperties": true }] } });
        let text = written(open);
        assert!(
            text.contains("export interface OtherBlock {\n  [member: string]: unknown;\n}"),
            "{text}"
        );
        assert!(
            text.ends_with("export type Block = KnownBlock | OtherBlock;"),
            "{text}"
        );
        let words =
            json!({ "State": { "oneOf": [{ "const": "on", "type": "string", "description": "It is." }] } });
        assert_eq!(
            written(words),
            "export type State =\n  /** It is. */\n  | \"on\";"
        );
    }

    /// Property: what has no type here fails instead of becoming anything.
    #[test]
    fn an_unknown_shape_fails() {
        let schema = json!({ "methods": {}, "$defs": { "A": { "type": "object", "properties": { "b": { "oneOf": [] } } } } });
        assert!(page(&schema.to_string()).is_err());
    }

    #[test]
    fn long_words_are_broken() {
        let mut out = String::new();
        comment_line(&"word ".repeat(60), "  ", &mut out);
        assert!(
            out.lines().count() > 3 && out.lines().all(|line| line.len() <= WIDTH),
            "{out}"
        );
    }
}
