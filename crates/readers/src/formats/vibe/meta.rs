//! `meta.json`, which tells of a session what its messages do not.

use super::AGENT;
use crate::log::SessionLog;
use lookback_model::Timestamp;
use lookback_model::facts::TitleRank;
use lookback_model::source::SideTitle;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The facts of a session; fields of an unexpected type are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Meta {
    #[serde(deserialize_with = "words")]
    pub(super) session_id: Option<String>,
    #[serde(deserialize_with = "words")]
    pub(super) parent_session_id: Option<String>,
    #[serde(deserialize_with = "words")]
    start_time: Option<String>,
    #[serde(deserialize_with = "words")]
    end_time: Option<String>,
    #[serde(deserialize_with = "words")]
    git_branch: Option<String>,
    #[serde(deserialize_with = "words")]
    title: Option<String>,
    #[serde(deserialize_with = "words")]
    title_source: Option<String>,
    #[serde(deserialize_with = "words")]
    model: Option<String>,
    #[serde(deserialize_with = "words")]
    origin_directory: Option<String>,
    #[serde(deserialize_with = "words")]
    archived_at: Option<String>,
    environment: Value,
    config: Value,
}

fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(value.as_str().filter(|text| !text.is_empty()).map(str::to_owned))
}

impl Meta {
    /// When the session began.
    pub(super) fn start(&self) -> Option<Timestamp> {
        Timestamp::parse(self.start_time.as_deref()?)
    }

    /// The title, unless it is the beginning of the first prompt, which is known at full length.
    fn title(&self) -> Option<&str> {
        let title = self.title.as_deref()?;
        (self.is_manual() || !title.ends_with('…')).then_some(title)
    }

    fn is_manual(&self) -> bool {
        self.title_source.as_deref() == Some("manual")
    }

    /// Hands on what it says.
    pub(super) fn tell(self, log: &mut SessionLog<'_>) {
        let times = [&self.start_time, &self.end_time].into_iter().flatten();
        times
            .filter_map(|time| Timestamp::parse(time))
            .for_each(|time| log.saw_time(time));
        let rank = if self.is_manual() {
            TitleRank::Custom
        } else {
            TitleRank::Given
        };
        let facts = log.facts();
        if let Some(title) = self.title() {
            facts.offer_title(title, rank);
        }
        let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
        facts.cwd = text(&self.environment, "working_directory").or(self.origin_directory);
        facts.model = text(&self.config, "model_name")
            .or_else(|| text(&self.config, "active_model"))
            .or(self.model);
        facts.branch = self.git_branch;
        facts.archived = self.archived_at.is_some();
        facts.forked_from = self.parent_session_id;
    }
}

/// The title that such a file names.
pub(super) fn title(text: &str) -> Option<SideTitle> {
    let meta: Meta = serde_json::from_str(text).ok()?;
    Some(SideTitle {
        agent: AGENT.to_owned(),
        title: meta.title()?.to_owned(),
        session_id: meta.session_id?,
    })
}
