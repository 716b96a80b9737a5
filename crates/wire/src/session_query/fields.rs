//! Parameters by name, taken one at a time, so that what is left over is known to be unknown.

use super::refusal::Refusal;
use crate::rpc::Params;
use serde_json::{Map, Value};

/// The parameters that have not been taken yet.
#[derive(Debug)]
pub struct Fields {
    members: Map<String, Value>,
    /// Where these parameters stand within the call's, such as `events[3].`; empty for the call's own.
    place: String,
}

impl Fields {
    /// The parameters of a call.
    ///
    /// # Errors
    /// When they are given by position.
    pub fn of(params: Params) -> Result<Self, Refusal> {
        let members = match params {
            Params::Named(members) => members,
            Params::Absent => Map::new(),
            Params::Positional(values) if values.is_empty() => Map::new(),
            Params::Positional(_) => return Err(Refusal::parameter("params", "must be given by name")),
        };
        Ok(Self {
            members,
            place: String::new(),
        })
    }

    /// The members of a value that stands at `place` within the parameters.
    ///
    /// # Errors
    /// When it is no object.
    pub fn within(place: &str, value: Value) -> Result<Self, Refusal> {
        match value {
            Value::Object(members) => Ok(Self {
                members,
                place: format!("{place}."),
            }),
            other => Err(Refusal::parameter(place, expected("an object", &other))),
        }
    }

    /// A parameter; `None` when it is absent or `null`.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.members.remove(name).filter(|value| !value.is_null())
    }

    /// A parameter that must be there, `null` included.
    ///
    /// # Errors
    /// When it is not.
    pub fn required(&mut self, name: &str) -> Result<Value, Refusal> {
        let value = self.members.remove(name);
        value.ok_or_else(|| self.refuse(name, "is missing"))
    }

    /// A text that must be there.
    ///
    /// # Errors
    /// When it is not, or is no text.
    pub fn text(&mut self, name: &str) -> Result<String, Refusal> {
        match self.required(name)? {
            Value::String(text) => Ok(text),
            other => Err(self.refuse(name, &expected("a text", &other))),
        }
    }

    /// A text that may be absent.
    ///
    /// # Errors
    /// When it is there and is no text.
    pub fn optional_text(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.refuse(name, &expected("a text", &other))),
        }
    }

    /// A number that must be there.
    ///
    /// # Errors
    /// When it is not, or is no number.
    pub fn number(&mut self, name: &str) -> Result<f64, Refusal> {
        let value = self.required(name)?;
        let number = value.as_f64();
        number.ok_or_else(|| self.refuse(name, &expected("a number", &value)))
    }

    /// A list that must be there.
    ///
    /// # Errors
    /// When it is not, or is no list.
    pub fn list(&mut self, name: &str) -> Result<Vec<Value>, Refusal> {
        match self.required(name)? {
            Value::Array(values) => Ok(values),
            other => Err(self.refuse(name, &expected("a list", &other))),
        }
    }

    /// Whatever a type of JSON reads, that must be there.
    ///
    /// # Errors
    /// When it is not, or has another shape.
    pub fn typed<T: serde::de::DeserializeOwned>(&mut self, name: &str) -> Result<T, Refusal> {
        let value = self.required(name)?;
        serde_json::from_value(value).map_err(|error| self.refuse(name, &error.to_string()))
    }

    /// Whatever a type of JSON reads, when it is there.
    ///
    /// # Errors
    /// When it has another shape.
    pub fn optional<T: serde::de::DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, Refusal> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let read = serde_json::from_value(value);
        read.map(Some)
            .map_err(|error| self.refuse(name, &error.to_string()))
    }

    /// Ends the taking.
    ///
    /// # Errors
    /// When a parameter is left that nobody took.
    pub fn end(self) -> Result<(), Refusal> {
        match self.members.keys().next() {
            None => Ok(()),
            Some(name) => Err(self.refuse(name, "is not known")),
        }
    }

    /// What is wrong with one of these parameters.
    pub fn refuse(&self, name: &str, problem: &str) -> Refusal {
        Refusal::parameter(format!("{}{name}", self.place), problem)
    }
}

/// `must be a text, not a number`.
fn expected(wanted: &str, value: &Value) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("must be {wanted}, not {found}")
}
