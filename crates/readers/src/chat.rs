//! Messages as OpenAI's chat interface has them, which several agents write as they send them.

use crate::blocks::{Blocks, arguments, message};
use crate::lenient::{List, Object, Words};
use lookback_model::event::{ContentBlock, Message, ToolResult};
use serde_json::value::RawValue;

/// A message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct ChatMessage<'a> {
    #[serde(borrow)]
    pub(crate) role: Words<'a>,
    #[serde(borrow)]
    pub(crate) content: Blocks<'a>,
    #[serde(borrow)]
    pub(crate) reasoning_content: Words<'a>,
    #[serde(borrow)]
    pub(crate) tool_calls: List<Call<'a>>,
    #[serde(borrow)]
    pub(crate) tool_call_id: Words<'a>,
}

/// A call of a tool.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Call<'a> {
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    function: Object<Function<'a>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Function<'a> {
    #[serde(borrow)]
    name: Words<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl Call<'_> {
    /// The call as a block of a message.
    pub(crate) fn block(&self) -> ContentBlock {
        let function = self.function.0.as_ref();
        ContentBlock::ToolCall {
            id: self.id.get().to_owned(),
            name: function.map_or("", |function| function.name.get()).to_owned(),
            arguments: arguments(function.and_then(|function| function.arguments)),
        }
    }
}

impl ChatMessage<'_> {
    /// The reply of an agent; `None` when there is nothing in it.
    pub(crate) fn reply(&self) -> Option<Message> {
        let mut content = Vec::new();
        let reasoning = self.reasoning_content.get();
        if !reasoning.trim().is_empty() {
            content.push(ContentBlock::Reasoning {
                text: reasoning.to_owned(),
            });
        }
        content.extend(self.content.content());
        content.extend(self.tool_calls.get().iter().map(Call::block));
        message(content)
    }

    /// What a tool answered.
    pub(crate) fn answer(&self) -> ToolResult {
        ToolResult {
            call_id: self.tool_call_id.get().to_owned(),
            content: self.content.content(),
            ..ToolResult::default()
        }
    }
}
