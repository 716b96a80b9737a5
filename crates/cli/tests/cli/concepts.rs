//! The examples of `docs/concepts/search.md` are true. Its `sessions` blocks are the sessions that there are,
//! its `search` blocks what queries find among them.

use crate::person::{Person, record};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const PAGE: &str = include_str!("../../../../docs/concepts/search.md");
/// A page with fewer examples has lost some.
const EXAMPLES: usize = 50;

/// Blocks of a kind, as their lines.
fn blocks<'a>(page: &'a str, kind: &str) -> Vec<Vec<&'a str>> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    let mut is_inside = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(named) if !is_inside && named == kind => {
                is_inside = true;
                blocks.push(Vec::new());
            }
            Some(_) => is_inside = false,
            None if is_inside && !line.is_empty() => blocks.last_mut().unwrap().push(line),
            None => {}
        }
    }
    blocks
}

/// The id that a session's name stands for.
fn id(name: &str) -> String {
    let number = name.bytes().fold(0u64, |number, byte| {
        (number * 31 + u64::from(byte)) % 1_000_000_000_000
    });
    format!("d0000000-0000-4000-8000-{number:012}")
}

/// `200 × text; then more` is long.
fn words(text: &str) -> String {
    let Some((count, rest)) = text.split_once(" × ") else {
        return text.to_owned();
    };
    let (repeated, last) = rest.split_once("; then ").unwrap();
    format!("{}{last}", format!("{repeated}\n").repeat(count.parse().unwrap()))
}

/// What a line of a session is in a transcript: role and content.
fn content(line: &str, number: usize) -> (&'static str, Value) {
    let (who, text) = line.split_once(": ").unwrap();
    let text = words(text);
    match who {
        "person" => ("user", json!(text)),
        "agent" => ("assistant", json!(text)),
        "result" => (
            "user",
            json!([{"type": "tool_result", "tool_use_id": format!("t{}", number - 1), "content": text}]),
        ),
        call => {
            let tool = call.strip_prefix("call ").unwrap_or_else(|| panic!("{line}"));
            let input = json!({"command": text});
            (
                "assistant",
                json!([{"type": "tool_use", "id": format!("t{number}"), "name": tool, "input": input}]),
            )
        }
    }
}

/// Writes the sessions as Claude Code would have left them.
fn write_sessions(person: &Person) -> Vec<String> {
    let mut written: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in blocks(PAGE, "sessions").concat() {
        let Some(head) = line.strip_prefix("= ") else {
            let (_, records) = written
                .iter_mut()
                .find(|(_, records)| records.last().is_some_and(|last| last["open"] == true))
                .unwrap();
            let mut open = records.pop().unwrap();
            let number = records.len();
            let (role, content) = content(line, number);
            let parent = number.checked_sub(1).map(|at| at as i64);
            let mut record = record(
                &id(open["name"].as_str().unwrap()),
                number as i64,
                parent,
                role,
                content,
            );
            record["cwd"] = open["cwd"].clone();
            record["timestamp"] = json!(format!(
                "{}T09:{number:02}:00.000Z",
                open["date"].as_str().unwrap()
            ));
            if let Some(parent) = records.last() {
                record["parentUuid"] = parent["uuid"].clone();
            }
            open["open"] = json!(true);
            records.extend([record, open]);
            continue;
        };
        let pieces: Vec<&str> = head.split(", ").collect();
        let (name, cwd, date) = (pieces[0], pieces[1], pieces[2]);
        for records in written.values_mut() {
            records.retain(|record| record["open"] != true);
        }
        let copied = pieces.get(3).map(|of| of.strip_prefix("goes on after ").unwrap());
        let mut records = copied.map(|of| written[of].clone()).unwrap_or_default();
        for record in &mut records {
            record["sessionId"] = json!(id(name));
        }
        records.push(json!({"open": true, "name": name, "cwd": cwd, "date": date}));
        written.insert(name.to_owned(), records);
    }
    for (name, mut records) in written.clone() {
        records.retain(|record| record["open"] != true);
        person.claude_records(&id(&name), &records);
    }
    written.into_keys().collect()
}

/// A query, the sessions that it finds, and what else is said of the answer.
struct Example<'a> {
    query: &'a str,
    finds: Vec<&'a str>,
    also: Vec<(&'a str, &'a str)>,
}

fn examples() -> Vec<Example<'static>> {
    let mut examples: Vec<Example<'_>> = Vec::new();
    for line in blocks(PAGE, "search").concat() {
        if let Some((query, finds)) = line.split_once(" =>") {
            let finds = finds.split(',').map(str::trim).filter(|name| !name.is_empty());
            examples.push(Example {
                query,
                finds: finds.collect(),
                also: Vec::new(),
            });
            continue;
        }
        let said = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
        examples.last_mut().unwrap().also.push(said);
    }
    examples
}

/// What is wrong with an example, if anything is.
fn check(person: &Person, names: &[String], example: &Example<'_>) -> Option<String> {
    let options = example.also.iter().filter(|(what, _)| *what == "options");
    let options: Vec<&str> = options.flat_map(|(_, options)| options.split(' ')).collect();
    let fixed = ["search", "--json", "--debug", "--freshness", "indexed"];
    let call = person.call(&[&fixed[..], &options, &["--", example.query]].concat());
    let answer = call.json();
    let found = call.hits();
    let name = |found: &String| names.iter().find(|name| id(name) == *found).unwrap().as_str();
    let found: Vec<&str> = found.iter().map(name).collect();
    let mut wrong = Vec::new();
    if found != example.finds {
        wrong.push(format!("finds {}", found.join(", ")));
    }
    for (what, said) in &example.also {
        let is = match *what {
            "route" => answer["debug"]["route"].as_str().unwrap().to_owned(),
            "searched for" => {
                let words = answer["debug"]["repairedTerms"]
                    .as_array()
                    .cloned()
                    .unwrap_or_default();
                words
                    .iter()
                    .map(|word| word.as_str().unwrap())
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            "snippet" => answer["hits"][0]["evidence"]["snippet"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            "options" => continue,
            other => panic!("{other} is nothing that can be said"),
        };
        if is != *said {
            wrong.push(format!("{what}: {is}"));
        }
    }
    (!wrong.is_empty()).then(|| {
        format!(
            "{} [{}]\n    {}",
            example.query,
            answer["debug"]["route"],
            wrong.join("\n    ")
        )
    })
}

#[test]
fn the_examples_of_the_page_on_search_are_true() {
    let person = Person::new();
    let names = write_sessions(&person);
    assert_eq!(person.call(&["index"]).code, 0);
    let examples = examples();
    assert!(examples.len() >= EXAMPLES, "{} examples are left", examples.len());
    let wrong: Vec<String> = examples
        .iter()
        .filter_map(|example| check(&person, &names, example))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
