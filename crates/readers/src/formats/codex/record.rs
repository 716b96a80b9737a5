//! One line of a rollout, decoded as far as the conversation needs it.
//!
//! Parsing is lenient: a field of an unexpected type counts as absent, because the shapes change from
//! release to release. It is also complete: everything a record is used for is decoded here, before it
//! has any effect, so that a bad escape anywhere in used text is met before an event was given.

use super::header::{Meta, meta};
use super::payload::{Payload, Raw, Whole, Words, content, text};
use super::tools::{Call, Output, executed, image_generation, mcp_called, output, patched, web_search};
use lookback_model::Timestamp;
use lookback_model::event::ContentBlock;
use serde::Deserialize;
use std::borrow::Cow;

/// What records are called by here and nowhere in themselves. Other names of tools that are not in a record
/// as they are, such as `web_search`, are the beginnings of its type.
pub(super) const ADDED_WORDS: &[&str] = &["apply_patch"];

/// Which of the copies a text may have in a rollout this one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// What went to or came from the model: `response_item`.
    Item,
    /// What was shown: `user_message`, `agent_message` and the like.
    Shown,
    /// A whole visible turn item: `item_completed`.
    Completed,
}

/// A record and when it was written.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) time: Option<Timestamp>,
    pub(super) ordinal: Option<u64>,
    pub(super) entry: Entry<'a>,
}

/// What a record says.
#[derive(Debug)]
pub(super) enum Entry<'a> {
    Meta(Box<Meta>),
    Turn {
        id: Option<Cow<'a, str>>,
        cwd: Option<Cow<'a, str>>,
        model: Option<Cow<'a, str>>,
    },
    Settings {
        thread: Option<Cow<'a, str>>,
    },
    User {
        origin: Origin,
        blocks: Vec<ContentBlock>,
    },
    Assistant {
        origin: Origin,
        blocks: Vec<ContentBlock>,
    },
    Reasoning {
        origin: Origin,
        parts: Vec<String>,
    },
    /// Instructions, notices, messages between agents; the source says which.
    Notice {
        source: &'static str,
        blocks: Vec<ContentBlock>,
    },
    Call {
        key: String,
        call: Call,
    },
    Output {
        id: String,
        output: Output,
    },
    /// Call and answer as the agent's program saw them, of use when the model's own are not there.
    Execution {
        origin: Origin,
        key: String,
        call: Call,
        output: Option<Output>,
    },
    Compacted {
        summary: String,
    },
    RolledBack {
        turns: u64,
    },
    Renamed {
        thread: Option<Cow<'a, str>>,
        title: Cow<'a, str>,
    },
    Ended {
        kind: &'static str,
        reason: Option<String>,
        message: Option<String>,
    },
    Bookkeeping,
    /// A type this reader does not know, by its name.
    Unknown(String),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Envelope<'a> {
    #[serde(borrow)]
    timestamp: Words<'a>,
    #[serde(borrow)]
    r#type: Words<'a>,
    #[serde(borrow)]
    record_type: Words<'a>,
    ordinal: Whole,
    #[serde(borrow)]
    payload: Option<Payload<'a>>,
}

pub(super) type Parsed<'a> = Result<Entry<'a>, serde_json::Error>;

/// Decodes a line, of tools' answers as many UTF-16 units as are `wanted`.
///
/// # Errors
/// When it is no JSON object, or text of it that is needed has bad escapes.
pub(super) fn parse(line: &str, wanted: usize) -> Result<Record<'_>, serde_json::Error> {
    let envelope: Envelope<'_> = serde_json::from_str(line)?;
    let time = envelope.timestamp.0.as_deref().and_then(Timestamp::parse);
    let kind = envelope.r#type.0.as_deref().unwrap_or_default();
    let entry = match (envelope.payload, kind) {
        (Some(payload), "response_item") => response_item(payload, wanted)?,
        (Some(payload), "event_msg") => shown(payload, wanted)?,
        (Some(payload), "session_meta") => Entry::Meta(Box::new(meta(payload)?)),
        (Some(payload), "turn_context") => turn(payload),
        (Some(payload), "compacted") => Entry::Compacted {
            summary: text(payload.message)?.into_owned(),
        },
        (
            _,
            "world_state"
            | "inter_agent_communication"
            | "inter_agent_communication_metadata"
            | "token_usage_record",
        ) => Entry::Bookkeeping,
        (None, _) if envelope.record_type.0.is_some() => Entry::Bookkeeping,
        // Rollouts of 2025 have no envelope: a header without a type, then bare items.
        (None, "") => bare_header(serde_json::from_str(line)?)?,
        (None, _) => response_item(serde_json::from_str(line)?, wanted)?,
        (Some(_), other) => Entry::Unknown(other.to_owned()),
    };
    Ok(Record {
        time,
        ordinal: envelope.ordinal.0,
        entry,
    })
}

fn bare_header(payload: Payload<'_>) -> Parsed<'_> {
    if payload.id.0.is_none() || payload.timestamp.0.is_none() {
        return Ok(Entry::Unknown("record without a type".to_owned()));
    }
    Ok(Entry::Meta(Box::new(meta(payload)?)))
}

fn response_item(payload: Payload<'_>, wanted: usize) -> Parsed<'_> {
    let kind = payload.r#type.0.as_deref().unwrap_or_default();
    let origin = Origin::Item;
    Ok(match kind {
        "message" => match payload.role.0.as_deref().unwrap_or_default() {
            "user" => Entry::User {
                origin,
                blocks: content(payload.content)?,
            },
            "assistant" => Entry::Assistant {
                origin,
                blocks: content(payload.content)?,
            },
            _ => Entry::Notice {
                source: "injected",
                blocks: content(payload.content)?,
            },
        },
        "reasoning" => {
            let summary = texts(payload.summary)?;
            let parts = if summary.is_empty() {
                texts(payload.content)?
            } else {
                summary
            };
            Entry::Reasoning { origin, parts }
        }
        "function_call" | "custom_tool_call" => {
            let arguments = text(payload.arguments.or(payload.input))?.into_owned();
            called(Call {
                id: payload.call_id(),
                name: payload.tool_name(),
                arguments,
            })
        }
        "local_shell_call" => called(payload.call("local_shell", payload.action)?),
        "tool_search_call" => called(payload.call("tool_search", payload.arguments)?),
        "image_generation_call" => image_generation(&payload)?,
        "web_search_call" => web_search(&payload, None)?,
        "function_call_output" | "custom_tool_call_output" => Entry::Output {
            id: payload.call_id(),
            output: output(payload.output, wanted)?,
        },
        "tool_search_output" => {
            let names = payload
                .found_tools()?
                .into_iter()
                .map(ContentBlock::text)
                .collect();
            Entry::Output {
                id: payload.call_id(),
                output: Output {
                    content: names,
                    is_error: false,
                },
            }
        }
        "agent_message" => Entry::Notice {
            source: "agent_message",
            blocks: content(payload.content)?,
        },
        "ghost_snapshot" | "compaction" | "compaction_summary" | "context_compaction" | "other" => {
            Entry::Bookkeeping
        }
        other => Entry::Unknown(format!("response_item/{other}")),
    })
}

fn called<'a>(call: Call) -> Entry<'a> {
    Entry::Call {
        key: call.id.clone(),
        call,
    }
}

fn shown(payload: Payload<'_>, wanted: usize) -> Parsed<'_> {
    let kind = payload.r#type.0.as_deref().unwrap_or_default();
    let origin = Origin::Shown;
    Ok(match kind {
        "user_message" => {
            let mut blocks = content(payload.message)?;
            blocks.extend(payload.shown_images()?);
            Entry::User { origin, blocks }
        }
        "agent_message" => Entry::Assistant {
            origin,
            blocks: content(payload.message)?,
        },
        "agent_reasoning" | "agent_reasoning_raw_content" => Entry::Reasoning {
            origin,
            parts: texts(payload.text)?,
        },
        "item_completed" => match payload.item {
            Some(item) => completed(serde_json::from_str(item.get())?, wanted)?,
            None => Entry::Bookkeeping,
        },
        "exec_command_end" => executed(&payload, origin, wanted)?,
        "patch_apply_end" => patched(&payload, origin)?,
        "mcp_tool_call_end" => mcp_called(&payload, origin)?,
        "web_search_end" => web_search(&payload, Some(origin))?,
        "thread_rolled_back" => Entry::RolledBack {
            turns: payload.num_turns.0.unwrap_or(0),
        },
        "thread_name_updated" => Entry::Renamed {
            thread: payload.thread_id.0,
            title: payload.thread_name.0.unwrap_or_default(),
        },
        "thread_settings_applied" => Entry::Settings {
            thread: payload.thread_id.0,
        },
        "task_started" | "turn_started" => turn(payload),
        "turn_aborted" => {
            let reason = payload.reason.0.map(Cow::into_owned);
            Entry::Ended {
                kind: "aborted",
                reason,
                message: None,
            }
        }
        "error" => Entry::Ended {
            kind: "error",
            reason: None,
            message: Some(text(payload.message)?.into_owned()),
        },
        other if is_display_only(other) => Entry::Bookkeeping,
        other => Entry::Unknown(format!("event_msg/{other}")),
    })
}

/// Events that repeat what other records say, or say nothing of the conversation.
fn is_display_only(kind: &str) -> bool {
    kind.starts_with("collab_")
        || kind.starts_with("hook_")
        || kind.starts_with("realtime_")
        || kind.ends_with("_begin")
        || kind.ends_with("_delta")
        || matches!(
            kind,
            "token_count"
                | "task_complete"
                | "turn_complete"
                | "context_compacted"
                | "entered_review_mode"
                | "exited_review_mode"
                | "plan_update"
                | "agent_reasoning_section_break"
                | "thread_goal_updated"
                | "sub_agent_activity"
                | "guardian_assessment"
                | "dynamic_tool_call_request"
                | "dynamic_tool_call_response"
                | "view_image_tool_call"
                | "image_generation_end"
                | "undo_started"
                | "undo_completed"
                | "session_configured"
                | "background_event"
                | "warning"
                | "stream_error"
                | "turn_diff"
                | "item_started"
                | "model_reroute"
                | "deprecation_notice"
                | "shutdown_complete"
        )
}

fn completed(item: Payload<'_>, wanted: usize) -> Parsed<'_> {
    let origin = Origin::Completed;
    let kind = item.r#type.0.as_deref().unwrap_or_default();
    Ok(match kind {
        "UserMessage" => Entry::User {
            origin,
            blocks: content(item.content)?,
        },
        "AgentMessage" => Entry::Assistant {
            origin,
            blocks: content(item.content)?,
        },
        "Reasoning" => {
            let summary = texts(item.summary_text)?;
            let parts = if summary.is_empty() {
                texts(item.raw_content)?
            } else {
                summary
            };
            Entry::Reasoning { origin, parts }
        }
        "Plan" => Entry::Notice {
            source: "plan",
            blocks: content(item.text)?,
        },
        "CommandExecution" => executed(&item, origin, wanted)?,
        "FileChange" => patched(&item, origin)?,
        "McpToolCall" | "DynamicToolCall" => mcp_called(&item, origin)?,
        "WebSearch" => web_search(&item, Some(origin))?,
        "Extension" if item.query.0.is_some() => web_search(&item, Some(origin))?,
        "Extension"
        | "ContextCompaction"
        | "CollabAgentToolCall"
        | "ImageView"
        | "ImageGeneration"
        | "EnteredReviewMode"
        | "ExitedReviewMode"
        | "HookPrompt"
        | "Sleep"
        | "SubAgentActivity" => Entry::Bookkeeping,
        other => Entry::Unknown(format!("item_completed/{other}")),
    })
}

fn turn(payload: Payload<'_>) -> Entry<'_> {
    Entry::Turn {
        id: payload.turn_id.0,
        cwd: payload.cwd.0,
        model: payload.model.0,
    }
}

/// Texts of a string, or of a list of strings or blocks; blank ones are left out.
fn texts(raw: Raw<'_>) -> Result<Vec<String>, serde_json::Error> {
    let blocks = content(raw)?;
    Ok(blocks
        .into_iter()
        .filter_map(|block| match block {
            ContentBlock::Text { text } if !text.trim().is_empty() => Some(text),
            _ => None,
        })
        .collect())
}
