//! Calls of tools and their answers, as the model's items and as the agent's program saw them.

use super::payload::{Payload, Raw, Words, content, text};
use super::record::{Entry, Origin, Parsed};
use crate::mend;
use lookback_model::event::ContentBlock;
use serde::Deserialize;

/// A call of a tool.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

/// A tool's answer.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) content: Vec<ContentBlock>,
    pub(super) is_error: bool,
}

pub(super) fn executed<'a>(payload: &Payload<'a>, origin: Origin, wanted: usize) -> Parsed<'a> {
    let call = payload.call("exec_command", payload.command)?;
    let mut said = head(payload.aggregated_output, wanted)?;
    if said.is_empty() {
        said = payload.both_streams()?;
    }
    let is_error = payload.exit_code.is_some_and(|code| code.get().trim() != "0");
    let output = Output {
        content: vec![ContentBlock::text(said)],
        is_error,
    };
    Ok(Entry::Execution {
        origin,
        key: call.id.clone(),
        call,
        output: Some(output),
    })
}

pub(super) fn patched<'a>(payload: &Payload<'a>, origin: Origin) -> Parsed<'a> {
    let mut call = payload.call("apply_patch", None)?;
    call.arguments = payload.patch()?;
    let is_error = payload.success.is_some_and(|success| success.get() == "false");
    let output = Output {
        content: content_of(payload.both_streams()?),
        is_error,
    };
    Ok(Entry::Execution {
        origin,
        key: call.id.clone(),
        call,
        output: Some(output),
    })
}

fn content_of(text: String) -> Vec<ContentBlock> {
    if text.is_empty() {
        Vec::new()
    } else {
        vec![ContentBlock::Text { text }]
    }
}

pub(super) fn mcp_called<'a>(payload: &Payload<'a>, origin: Origin) -> Parsed<'a> {
    let invocation: Payload<'_> = match payload.invocation {
        Some(invocation) => serde_json::from_str(invocation.get())?,
        None => Payload::default(),
    };
    let part =
        |own: &Words<'a>, inner: &Words<'a>| own.0.clone().or_else(|| inner.0.clone()).unwrap_or_default();
    let server = part(&payload.server, &invocation.server);
    let tool = part(&payload.tool, &invocation.tool);
    let name = if server.is_empty() {
        tool.into_owned()
    } else {
        format!("{server}.{tool}")
    };
    let call = payload.call(&name, payload.arguments.or(invocation.arguments))?;
    let output = match payload.result.or(payload.content_items) {
        Some(result) => Some(output(Some(result), usize::MAX)?),
        None => None,
    };
    Ok(Entry::Execution {
        origin,
        key: call.id.clone(),
        call,
        output,
    })
}

/// A search on the web. Its records share no id, so what it asked is its key.
pub(super) fn web_search<'a>(payload: &Payload<'a>, origin: Option<Origin>) -> Parsed<'a> {
    let action: Payload<'_> = match payload.action {
        Some(action) if action.get().starts_with('{') => serde_json::from_str(action.get())?,
        _ => Payload::default(),
    };
    let asked = [&action.query, &action.url, &payload.query, &action.pattern]
        .into_iter()
        .find_map(|words| words.0.as_deref().filter(|words| !words.is_empty()));
    let key = format!("web search {}", asked.unwrap_or_default());
    let mut call = payload.call("web_search", payload.action)?;
    if call.arguments.is_empty() {
        call.arguments = asked.unwrap_or_default().to_owned();
    }
    Ok(match origin {
        None => Entry::Call { key, call },
        Some(origin) => Entry::Execution {
            origin,
            key,
            call,
            output: None,
        },
    })
}

pub(super) fn image_generation<'a>(payload: &Payload<'a>) -> Parsed<'a> {
    let mut call = payload.call("image_generation", None)?;
    call.arguments = payload.revised_prompt.0.as_deref().unwrap_or_default().to_owned();
    let bytes = payload.result.map_or(0, |image| image.get().len() as u64);
    let media = ContentBlock::Media {
        media_type: "image/png".to_owned(),
        bytes,
    };
    let output = Output {
        content: vec![media],
        is_error: false,
    };
    Ok(Entry::Execution {
        origin: Origin::Item,
        key: call.id.clone(),
        call,
        output: Some(output),
    })
}

/// What old shells answered: JSON in a string.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ShellAnswer {
    output: String,
    metadata: ShellMetadata,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ShellMetadata {
    exit_code: i64,
}

/// A string's text as far as it is wanted; what is no string stays JSON.
fn head(raw: Raw<'_>, wanted: usize) -> Result<String, serde_json::Error> {
    match raw {
        Some(literal) if literal.get().starts_with('"') => Ok(mend::head_of_string(literal.get(), wanted)),
        other => Ok(text(other)?.into_owned()),
    }
}

/// How an answer of the old shell tool begins: JSON inside a string, which is of use only whole.
const SHELL_ANSWER: &str = "\"{\\\"output\\\":";

/// A tool's answer: a string, a block, a list of blocks, or an object around one of these.
pub(super) fn output(raw: Raw<'_>, wanted: usize) -> Result<Output, serde_json::Error> {
    let Some(value) = raw else {
        return Ok(Output::default());
    };
    if value.get().starts_with('"') && !value.get().starts_with(SHELL_ANSWER) {
        let content = content_of(mend::head_of_string(value.get(), wanted));
        return Ok(Output {
            content,
            is_error: false,
        });
    }
    if value.get().starts_with('{') {
        let object: Payload<'_> = serde_json::from_str(value.get())?;
        // MCP results are wrapped once more in `Ok` or `Err`.
        if let Some(inner) = object.ok.or(object.err) {
            let inner_output = output(Some(inner), wanted)?;
            return Ok(Output {
                is_error: inner_output.is_error || object.ok.is_none(),
                ..inner_output
            });
        }
        if object.content.is_some() {
            let failed = |flag: Raw<'_>, bad: &str| flag.is_some_and(|flag| flag.get() == bad);
            let is_error = failed(object.success, "false") || failed(object.is_error, "true");
            return Ok(Output {
                content: content(object.content)?,
                is_error,
            });
        }
    }
    let mut blocks = content(raw)?;
    let mut is_error = false;
    if let [ContentBlock::Text { text }] = blocks.as_mut_slice()
        && text.starts_with("{\"output\":")
        && let Ok(answer) = serde_json::from_str::<ShellAnswer>(text)
    {
        is_error = answer.metadata.exit_code != 0;
        *text = answer.output;
    }
    Ok(Output {
        content: blocks,
        is_error,
    })
}
