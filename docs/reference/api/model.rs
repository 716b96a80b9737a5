// The public interface of lookback_model: its items without their bodies.
// Written by `cargo xtask docs` from the sources. Change those, not this page.

// lookback_model

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ContentBlock {
    Text { text: String },
    Reasoning { text: String },
    ToolCall {
        #[serde(default)]
        id: String,
        name: String,
        #[serde(default)]
        arguments: String,
    },
    ToolResult { #[serde(default)] id: String, content: Vec<ContentBlock> },
    Media { #[serde(default)] media_type: String, #[serde(default)] bytes: u64 },
    #[serde(untagged)]
    Other(Value),
}
impl ContentBlock {
    pub fn text(text: impl Into<String>) -> Self;
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub session: SessionOrdinal,
    pub seq: u64,
    pub chunk: u32,
    pub time: Timestamp,
    pub copy_key: u64,
    pub event_type: Cow<'static, str>,
    pub has_marker: bool,
    pub kind: TextKind,
    pub text: String,
}
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    pub home: PathBuf,
    pub variables: BTreeMap<String, String>,
}
impl Environment {
    pub fn at_home(home: impl Into<PathBuf>) -> Self;
    pub fn variable(&self, name: &str) -> Option<&str>;
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    pub seq: u64,
    pub time: Timestamp,
    #[serde(flatten)]
    pub data: EventData,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface_op: Option<SurfaceOp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_event_seqs: Option<Vec<u64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<String>,
    #[serde(skip)]
    pub copy_key: u64,
}
impl Event {
    pub fn type_name(&self) -> &str;
    pub fn has_marker(&self) -> bool;
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum EventData {
    #[serde(rename = "turn/start")]
    TurnStart(Value),
    #[serde(rename = "turn/end")]
    TurnEnd(TurnEnd),
    #[serde(rename = "step/start")]
    StepStart(Value),
    #[serde(rename = "step/end")]
    StepEnd(Value),
    #[serde(rename = "user/message")]
    UserMessage(Message),
    #[serde(rename = "assistant/message")]
    AssistantMessage(Message),
    #[serde(rename = "tool/result")]
    ToolResult(ToolResult),
    #[serde(rename = "context/message")]
    ContextMessage(Message),
    #[serde(rename = "steering/message")]
    SteeringMessage(Message),
    #[serde(rename = "prompt/blocked")]
    PromptBlocked(BlockedPrompt),
    #[serde(rename = "tool/call")]
    ToolCall(ToolCall),
    #[serde(rename = "todo/write")]
    TodoWrite(TodoList),
    #[serde(rename = "assistant/chunk")]
    AssistantChunk(Value),
    #[serde(rename = "request/header")]
    RequestHeader(Value),
    #[serde(rename = "request/header-delta")]
    RequestHeaderDelta(Value),
    #[serde(untagged)]
    Other(OtherEvent),
}
impl EventData {
    pub fn type_name(&self) -> &str;
    pub fn owned_type_name(&self) -> Cow<'static, str>;
    pub fn surface_eligible(&self) -> bool;
}
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    pub snippet: Snippet,
    pub kind: TextKind,
    pub time: Timestamp,
    pub seq: u64,
}
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub session: SessionRow,
    pub score: f64,
    pub evidence: Option<Evidence>,
}
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub words: Vec<Word>,
    pub operators: Operators,
    pub cut: bool,
}
impl Plan {
    pub fn is_blank(&self) -> bool;
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadCursor {
    pub position: Position,
    pub state: String,
}
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRequest {
    pub query: String,
    pub view: View,
    pub limit: usize,
    pub sort: Sort,
    pub agents: Vec<String>,
    pub paths: Vec<String>,
    pub since: Option<Timestamp>,
    pub cursor: Option<String>,
}
impl SearchRequest {
    pub fn new(query: impl Into<String>) -> Self;
}
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionFacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub kind: SessionKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub archived: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub hidden: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "is_default")]
    pub events: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub prompts: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub replies: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub tool_calls: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub tool_results: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub recalls: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub turns: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub compactions: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub rewinds: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub first_copy_key: u64,
}
impl SessionFacts {
    pub fn offer_title(&mut self, text: &str, rank: TitleRank);
    pub fn message_count(&self) -> u64;
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionHeader {
    #[serde(default)]
    pub version: u32,
    pub id: String,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_length: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_depth: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_preset: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, serde_json::Value>,
}
impl SessionHeader {
    pub fn new(id: impl Into<String>, created_at: Timestamp) -> Self;
    pub fn agrees_with(&self, other: &Self) -> bool;
}
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    Main,
    Subagent,
    Headless,
}
impl SessionKind {
    pub fn as_str(self) -> &'static str;
    pub fn from_name(name: &str) -> Self;
}
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
#[serde(transparent)]
pub struct SessionOrdinal(pub u32);
pub trait SessionSource: Send + Sync {
    fn agent(&self) -> &'static str;
    fn roots(&self, environment: &Environment) -> Vec<PathBuf>;
    fn discover(&self, root: &std::path::Path, found: &mut Discovery);
    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError>;
    fn raw_words(&self, _file: &SourceFile) -> RawWords;
    fn resume(
        &self,
        session: &SessionHeader,
        facts: &SessionFacts,
    ) -> Option<ResumeCommand>;
}
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    pub text: String,
    pub matches: Vec<Range<usize>>,
    pub cut: bool,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    pub agent: String,
    pub root: PathBuf,
    pub path: PathBuf,
    pub role: FileRole,
    pub stamp: FileStamp,
}
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surface;
impl Surface {
    pub fn of<'a>(
        events: impl IntoIterator<Item = &'a Event>,
    ) -> Result<Self, SurfaceError>;
    pub fn resume(current: Vec<u64>) -> Self;
    pub fn take_replacement(&mut self) -> Option<Replacement>;
    pub fn apply(&mut self, event: &Event) -> Result<(), SurfaceError>;
    pub fn apply_op(&mut self, seq: u64, op: SurfaceOp) -> Result<(), SurfaceError>;
    pub fn slice(
        &self,
        seq: u64,
        start: u64,
        end: u64,
    ) -> Result<RangeInclusive<usize>, SurfaceError>;
    pub fn current(&self) -> &[u64];
    pub fn replacements(&self) -> &[Replacement];
    pub fn position(&self, seq: u64) -> Option<usize>;
    pub fn states(&self, length: u64) -> Vec<SurfaceState>;
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum SurfaceOp {
    Append,
    Replace { start: u64, end: u64 },
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SurfaceState {
    Current,
    Shadowed,
    LogOnly,
}
impl SurfaceState {
    pub fn within(has_marker: bool, seq: u64, shadowed: &[(u64, u64)]) -> Self;
}
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
#[serde(rename_all = "lowercase")]
pub enum TextKind {
    User,
    Agent,
    Reasoning,
    Call,
    Result,
    Context,
}
impl TextKind {
    pub const ALL: [Self; 6] = [
        Self::User,
        Self::Agent,
        Self::Reasoning,
        Self::Call,
        Self::Result,
        Self::Context,
    ];
    pub fn code(self) -> u64;
    pub fn from_code(code: u64) -> Option<Self>;
    pub fn role(self) -> &'static str;
}
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);
impl Timestamp {
    pub fn from_number(number: f64) -> Option<Self>;
    pub fn parse(text: &str) -> Option<Self>;
    pub fn from_json(value: &serde_json::Value) -> Option<Self>;
    pub fn utc_date(self) -> Option<(i16, u32, u32)>;
    pub fn to_rfc3339(self) -> String;
}
impl fmt::Display for Timestamp;
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    Conversation,
    Full,
    Everything,
    Plain,
}
impl View {
    pub fn kinds(self) -> &'static [TextKind];
}

// lookback_model::copies

pub fn chained_key(previous: u64, role: &str, text: &str) -> u64;
pub fn key_of_id(agent: &str, id: &str) -> u64;

// lookback_model::document

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub session: SessionOrdinal,
    pub seq: u64,
    pub chunk: u32,
    pub time: Timestamp,
    pub copy_key: u64,
    pub event_type: Cow<'static, str>,
    pub has_marker: bool,
    pub kind: TextKind,
    pub text: String,
}
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
#[serde(transparent)]
pub struct SessionOrdinal(pub u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextCaps {
    pub tool_text: usize,
}
impl Default for TextCaps;
pub fn documents(
    session: SessionOrdinal,
    event: &Event,
    caps: TextCaps,
    mut each: impl FnMut(Document),
);
pub fn documents_of_words(
    session: SessionOrdinal,
    words: &EventDocument,
    caps: TextCaps,
    mut each: impl FnMut(Document),
);

// lookback_model::environment

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    pub home: PathBuf,
    pub variables: BTreeMap<String, String>,
}
impl Environment {
    pub fn at_home(home: impl Into<PathBuf>) -> Self;
    pub fn variable(&self, name: &str) -> Option<&str>;
}

// lookback_model::event

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockedPrompt {
    pub content: Vec<ContentBlock>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Value>,
    #[serde(default)]
    pub reason: String,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ContentBlock {
    Text { text: String },
    Reasoning { text: String },
    ToolCall {
        #[serde(default)]
        id: String,
        name: String,
        #[serde(default)]
        arguments: String,
    },
    ToolResult { #[serde(default)] id: String, content: Vec<ContentBlock> },
    Media { #[serde(default)] media_type: String, #[serde(default)] bytes: u64 },
    #[serde(untagged)]
    Other(Value),
}
impl ContentBlock {
    pub fn text(text: impl Into<String>) -> Self;
}
pub const EVENT_TYPES: [&str; 15] = [
    "user/message",
    "assistant/message",
    "tool/result",
    "context/message",
    "steering/message",
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "prompt/blocked",
    "tool/call",
    "todo/write",
    "assistant/chunk",
    "request/header",
    "request/header-delta",
];
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    pub seq: u64,
    pub time: Timestamp,
    #[serde(flatten)]
    pub data: EventData,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface_op: Option<SurfaceOp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_event_seqs: Option<Vec<u64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<String>,
    #[serde(skip)]
    pub copy_key: u64,
}
impl Event {
    pub fn type_name(&self) -> &str;
    pub fn has_marker(&self) -> bool;
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum EventData {
    #[serde(rename = "turn/start")]
    TurnStart(Value),
    #[serde(rename = "turn/end")]
    TurnEnd(TurnEnd),
    #[serde(rename = "step/start")]
    StepStart(Value),
    #[serde(rename = "step/end")]
    StepEnd(Value),
    #[serde(rename = "user/message")]
    UserMessage(Message),
    #[serde(rename = "assistant/message")]
    AssistantMessage(Message),
    #[serde(rename = "tool/result")]
    ToolResult(ToolResult),
    #[serde(rename = "context/message")]
    ContextMessage(Message),
    #[serde(rename = "steering/message")]
    SteeringMessage(Message),
    #[serde(rename = "prompt/blocked")]
    PromptBlocked(BlockedPrompt),
    #[serde(rename = "tool/call")]
    ToolCall(ToolCall),
    #[serde(rename = "todo/write")]
    TodoWrite(TodoList),
    #[serde(rename = "assistant/chunk")]
    AssistantChunk(Value),
    #[serde(rename = "request/header")]
    RequestHeader(Value),
    #[serde(rename = "request/header-delta")]
    RequestHeaderDelta(Value),
    #[serde(untagged)]
    Other(OtherEvent),
}
impl EventData {
    pub fn type_name(&self) -> &str;
    pub fn owned_type_name(&self) -> Cow<'static, str>;
    pub fn surface_eligible(&self) -> bool;
}
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub content: Vec<ContentBlock>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
}
impl Message {
    pub fn text(text: impl Into<String>) -> Self;
    pub fn from_source(mut self, source: &str) -> Self;
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtherEvent {
    pub r#type: String,
    #[serde(default)]
    pub data: Value,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum SurfaceOp {
    Append,
    Replace { start: u64, end: u64 },
}
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Todo {
    pub content: String,
    pub status: String,
}
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TodoList {
    pub todos: Vec<Todo>,
}
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    #[serde(default)]
    pub call_id: String,
    pub name: String,
    #[serde(default)]
    pub arguments: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
}
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolError {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    #[serde(default)]
    pub call_id: String,
    pub content: Vec<ContentBlock>,
    #[serde(default)]
    pub is_error: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_recalled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
}
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnEnd {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    pub reason: TurnEndReason,
}
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnEndReason {
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}
pub fn owned_type_name(name: &str) -> Cow<'static, str>;

// lookback_model::facts

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionFacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub kind: SessionKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub archived: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub hidden: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "is_default")]
    pub events: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub prompts: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub replies: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub tool_calls: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub tool_results: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub recalls: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub turns: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub compactions: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub rewinds: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub first_copy_key: u64,
}
impl SessionFacts {
    pub fn offer_title(&mut self, text: &str, rank: TitleRank);
    pub fn message_count(&self) -> u64;
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Title {
    pub text: String,
    pub rank: TitleRank,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TitleRank {
    Prompt,
    Summary,
    Given,
    Name,
    Custom,
}
pub fn one_line(text: &str, limit: usize) -> String;

// lookback_model::hit

#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    pub snippet: Snippet,
    pub kind: TextKind,
    pub time: Timestamp,
    pub seq: u64,
}
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub session: SessionRow,
    pub score: f64,
    pub evidence: Option<Evidence>,
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    Present,
    Unverifiable,
    Missing,
}
impl Presence {
    pub fn as_str(self) -> &'static str;
    pub fn from_name(name: &str) -> Self;
}
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    pub ordinal: crate::SessionOrdinal,
    pub agent: String,
    pub session_id: String,
    pub header: crate::SessionHeader,
    pub facts: crate::SessionFacts,
    pub title: String,
    pub shadowed: Vec<(u64, u64)>,
    pub path: std::path::PathBuf,
    pub presence: Presence,
    pub resume: Option<crate::source::ResumeCommand>,
    pub copies: u64,
}
impl SessionRow {
    pub fn kind(&self) -> SessionKind;
}
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    pub text: String,
    pub matches: Vec<Range<usize>>,
    pub cut: bool,
}

// lookback_model::paths

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathScope;
impl PathScope {
    pub fn of(paths: &[String]) -> Self;
    pub fn is_everywhere(&self) -> bool;
    pub fn holds(&self, cwd: Option<&str>) -> bool;
}

// lookback_model::ports

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    pub read: Vec<FileRead>,
    pub failed: Vec<FileFailure>,
    pub restamped: Vec<(FileId, SourceFile)>,
    pub presence: Vec<(FileId, Presence)>,
    pub titles: Vec<SideTitle>,
    pub time: Timestamp,
    pub sweep_completed: bool,
}
impl Batch {
    pub fn is_empty(&self) -> bool;
}
pub trait Catalogue: Send + Sync {
    fn files(&self) -> Result<Vec<FileRow>, StoreError>;
    fn cursor(&self, file: FileId) -> Result<FileCursor, StoreError>;
    fn file_reports(&self) -> Result<Vec<FileReport>, StoreError>;
    fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>, StoreError>;
    fn find_sessions(&self, id: &str) -> Result<Vec<SessionRow>, StoreError>;
    fn session(&self, session: SessionOrdinal) -> Result<Option<SessionRow>, StoreError>;
    fn age(&self) -> Result<IndexAge, StoreError>;
    fn counts(&self) -> Result<CatalogueCounts, StoreError>;
    fn sessions_by_agent(&self) -> Result<BTreeMap<String, u64>, StoreError>;
    fn stored_text(
        &self,
        session: SessionOrdinal,
    ) -> Result<Vec<StoredText>, StoreError>;
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CatalogueCounts {
    pub files_current: u64,
    pub files_due: u64,
    pub files_failed: u64,
    pub sessions: u64,
    pub sessions_missing: u64,
    pub age: IndexAge,
}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileCursor {
    pub cursor: Option<ReadCursor>,
    pub account: ReadAccount,
    pub sessions: Vec<(String, SessionOrdinal)>,
}
#[derive(Clone, Debug, PartialEq)]
pub struct FileFailure {
    pub id: Option<FileId>,
    pub file: SourceFile,
    pub error: String,
    pub account: ReadAccount,
}
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
#[serde(transparent)]
pub struct FileId(pub i64);
#[derive(Clone, Debug, PartialEq)]
pub struct FileRead {
    pub id: Option<FileId>,
    pub file: SourceFile,
    pub cursor: ReadCursor,
    pub account: ReadAccount,
    pub sessions: Vec<SessionRead>,
}
#[derive(Clone, Debug, PartialEq)]
pub struct FileReport {
    pub row: FileRow,
    pub account: ReadAccount,
    pub error: Option<String>,
    pub sessions: Vec<SessionRow>,
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    pub id: FileId,
    pub agent: String,
    pub root: PathBuf,
    pub path: PathBuf,
    pub role: FileRole,
    pub stamp: FileStamp,
    pub state: FileState,
    pub presence: Presence,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    Current,
    Due,
    Failed,
}
impl FileState {
    pub fn as_str(self) -> &'static str;
    pub fn from_name(name: &str) -> Self;
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexAge {
    pub generation: u64,
    pub last_reconcile_at: Option<Timestamp>,
    pub last_sweep_completed_at: Option<Timestamp>,
}
pub trait IndexSink: Send + Sync {
    fn writer(&self, bytes: u64) -> Result<Option<Box<dyn IndexWriter>>, StoreError>;
}
pub trait IndexWriter: Send + Sync {
    fn new_session(&self) -> SessionOrdinal;
    fn add(&self, documents: Vec<Document>) -> Result<(), StoreError>;
    fn retract(&self, session: SessionOrdinal) -> Result<(), StoreError>;
    fn commit(&self, batch: Batch) -> Result<u64, StoreError>;
}
#[derive(Clone, Debug, PartialEq)]
pub enum SearchAnswer {
    Results(SearchPage),
    StaleCursor { generation: u64, expected: Option<u64> },
    MalformedCursor,
}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchPage {
    pub hits: Vec<Hit>,
    pub cursor: Option<String>,
    pub generation: u64,
    pub candidates_cut: bool,
    pub snippets_cut: u64,
    pub query_cut: bool,
    pub route: String,
    pub repaired_terms: Option<Vec<String>>,
}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionFilter {
    pub agents: Vec<String>,
    pub paths: Vec<String>,
    pub since: Option<Timestamp>,
    pub kinds: Vec<SessionKind>,
    pub hidden: bool,
}
impl SessionFilter {
    pub fn takes(
        &self,
        scope: &PathScope,
        agent: &str,
        cwd: Option<&str>,
        facts: &SessionFacts,
    ) -> bool;
}
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRead {
    pub ordinal: SessionOrdinal,
    pub session: ReadSession,
    pub resume: Option<ResumeCommand>,
}
pub trait SessionSearch: Send + Sync {
    fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, StoreError>;
}
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    Newer { path: PathBuf, found: u64, known: u64 },
    Write { path: PathBuf, source: Box<dyn std::error::Error + Send + Sync> },
    Read { path: PathBuf, source: Box<dyn std::error::Error + Send + Sync> },
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredText {
    pub seq: u64,
    pub time: Timestamp,
    pub kind: TextKind,
    #[serde(default)]
    pub copy_key: u64,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub event_type: Cow<'static, str>,
    #[serde(default)]
    pub has_marker: bool,
    pub text: String,
}
impl StoredText {
    pub fn usual_event(kind: TextKind) -> (Cow<'static, str>, bool);
}

// lookback_model::query

pub const DEFAULT_LIMIT: usize = 20;
pub const MAX_LIMIT: usize = 100;
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operators {
    pub repo: Vec<String>,
    pub path: Vec<String>,
}
impl Operators {
    pub fn is_empty(&self) -> bool;
}
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub words: Vec<Word>,
    pub operators: Operators,
    pub cut: bool,
}
impl Plan {
    pub fn is_blank(&self) -> bool;
}
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRequest {
    pub query: String,
    pub view: View,
    pub limit: usize,
    pub sort: Sort,
    pub agents: Vec<String>,
    pub paths: Vec<String>,
    pub since: Option<Timestamp>,
    pub cursor: Option<String>,
}
impl SearchRequest {
    pub fn new(query: impl Into<String>) -> Self;
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sort {
    Relevance,
    Newest,
}
impl Sort {
    pub fn as_str(self) -> &'static str;
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    pub quoted: bool,
}
pub fn clamp_limit(limit: Option<f64>) -> usize;

// lookback_model::query::parse

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operators {
    pub repo: Vec<String>,
    pub path: Vec<String>,
}
impl Operators {
    pub fn is_empty(&self) -> bool;
}
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub words: Vec<Word>,
    pub operators: Operators,
    pub cut: bool,
}
impl Plan {
    pub fn is_blank(&self) -> bool;
}
pub const QUERY_LIMIT: usize = 512;
pub const WORD_LIMIT: usize = 48;
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    pub quoted: bool,
}
pub fn parse(query: &str) -> Plan;
pub fn parse_text(query: &str) -> Plan;

// lookback_model::query::wording

pub fn is_literal(text: &str) -> bool;
pub fn is_stop_word(word: &str) -> bool;

// lookback_model::recall

pub fn asks_history(name: &str, arguments: &str) -> bool;

// lookback_model::session

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionHeader {
    #[serde(default)]
    pub version: u32,
    pub id: String,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_length: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation_depth: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_preset: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, serde_json::Value>,
}
impl SessionHeader {
    pub fn new(id: impl Into<String>, created_at: Timestamp) -> Self;
    pub fn agrees_with(&self, other: &Self) -> bool;
}
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    Main,
    Subagent,
    Headless,
}
impl SessionKind {
    pub fn as_str(self) -> &'static str;
    pub fn from_name(name: &str) -> Self;
}

// lookback_model::session_query

#[derive(Clone, Default)]
pub struct AbortSignal;
impl AbortSignal {
    pub fn new() -> Self;
    pub fn abort(&self);
    pub fn is_aborted(&self) -> bool;
    pub fn listen<L: AbortListener + 'static>(&self, listener: &Arc<L>);
}
impl fmt::Debug for AbortSignal;
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Availability {
    Live,
    Persisted,
}
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CursorRefusal {
    Stale,
    Malformed,
}
impl CursorRefusal {
    pub fn as_str(&self) -> &'static str;
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDocument {
    pub seq: u64,
    pub time: Timestamp,
    pub type_name: String,
    pub has_marker: bool,
    pub copy_key: u64,
    pub pieces: Vec<(TextKind, String)>,
}
impl EventDocument {
    pub fn text(&self) -> String;
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventHit {
    #[serde(flatten)]
    pub event: EventRecord,
    pub snippet: String,
}
impl HasEvent for EventHit;
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventRecord {
    pub session_id: String,
    pub seq: u64,
    pub time: Timestamp,
    pub r#type: String,
    pub surface: SurfaceState,
}
impl HasEvent for EventRecord;
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum EventResultFilter {
    Seq {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<f64>,
    },
    Time {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<f64>,
    },
    Type { values: Vec<String> },
    Surface { values: Vec<SurfaceState> },
}
impl EventResultFilter {
    pub fn from_json(value: &Value) -> Result<Self, SessionQueryError>;
    pub fn validate(&self) -> Result<(), SessionQueryError>;
    pub fn takes(&self, record: &EventRecord) -> bool;
    pub fn takes_parts(
        &self,
        seq: u64,
        time: Timestamp,
        is_type: &dyn Fn(&String) -> bool,
        surface: &dyn Fn() -> SurfaceState,
    ) -> bool;
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventTrace {
    pub target: EventRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadowed_by: Option<u64>,
    pub replacement_chain: Vec<u64>,
    pub shadows: Vec<u64>,
    pub references: Vec<u64>,
    pub referenced_by: Vec<u64>,
}
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractorVersions {
    pub events: BTreeMap<String, String>,
    pub blocks: BTreeMap<String, String>,
}
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    UnknownVersion { id: String, version: u32 },
    NoId,
    ImpossibleTime { id: String, created_at: i64 },
    RelativeCwd { id: String, cwd: String },
    ImpossibleCount { id: String, field: &'static str, value: u64 },
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InventoryEntry {
    pub session_id: String,
    pub fingerprint: String,
    pub revision: Option<String>,
    pub extractors: String,
}
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    NotContiguous { seq: u64, expected: u64 },
    NotEligible { seq: u64, type_name: String },
    SourcesWithoutMarker { seq: u64 },
    SourceNotEarlier { seq: u64, source_seq: u64 },
    SourceRepeated { seq: u64, source_seq: u64 },
    NoSources { seq: u64 },
    SourceMissing { seq: u64, shadowed: u64 },
    NotOneToolResult { seq: u64 },
    ToolResultChanged { seq: u64, shadowed: u64 },
    NotJson { seq: u64, reason: &'static str },
    Surface(SurfaceError),
}
#[derive(Clone, Debug, Default)]
pub struct LogState;
impl LogState {
    pub fn length(&self) -> u64;
    pub fn surface(&self) -> &Surface;
    pub fn follow(&mut self, event: &Event) -> Result<(), LogError>;
}
#[derive(Clone, Debug, PartialEq)]
pub struct PersistedSession {
    pub header: SessionHeader,
    pub agent: String,
    pub revision: Option<String>,
}
#[derive(Debug, thiserror::Error)]
pub enum PersistenceError {
    NotFound { session_id: String },
    Query(SessionQueryError),
    Other(Box<dyn Error + Send + Sync>),
}
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    Query(SessionQueryError),
    Other(Box<dyn Error + Send + Sync>),
}
impl ProviderError {
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self;
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderStatus {
    Available,
    Unavailable(UnavailableReason),
}
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadEventRequest {
    pub session_id: String,
    pub seq: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadEventResult {
    pub session: SessionRecord,
    pub target: Event,
    pub events: Vec<Event>,
    pub start_seq: u64,
    pub end_seq: u64,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchPage<T> {
    pub provider_id: String,
    pub items: Vec<T>,
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
pub trait SearchProvider: Send + Sync {
    fn id(&self) -> &str;
    fn status(&self) -> ProviderStatus;
    fn persisted_inventory(&self) -> Result<Vec<InventoryEntry>, ProviderError>;
    fn replace_persisted(&self, snapshot: &SessionSnapshot) -> Result<(), ProviderError>;
    fn remove_persisted(&self, session_id: &str) -> Result<(), ProviderError>;
    fn set_persisted_active(&self, active: bool) -> Result<(), ProviderError>;
    fn replace_live(&self, snapshot: &SessionSnapshot) -> Result<(), ProviderError>;
    fn remove_live(&self, session_id: &str) -> Result<(), ProviderError>;
    fn search_sessions(
        &self,
        spec: &SessionSearchSpec,
        abort: &AbortSignal,
    ) -> Result<SearchPage<SessionHit>, ProviderError>;
    fn search_events(
        &self,
        spec: &SessionEventSearchSpec,
        abort: &AbortSignal,
    ) -> Result<SearchPage<EventHit>, ProviderError>;
}
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEventSearchRequest {
    pub session_id: String,
    pub query: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<EventResultFilter>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
#[derive(Clone, Debug, PartialEq)]
pub struct SessionEventSearchSpec {
    pub session_id: String,
    pub query: String,
    pub filters: Vec<EventResultFilter>,
    pub limit: usize,
    pub cursor: Option<String>,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionHit {
    #[serde(flatten)]
    pub session: SessionRecord,
    pub best_match: EventHit,
}
impl HasSession for SessionHit;
#[derive(Clone, Debug, PartialEq)]
pub struct SessionLog {
    pub header: SessionHeader,
    pub events: Vec<Event>,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionNode {
    pub session: SessionRecord,
    pub children: Vec<SessionNode>,
}
pub trait SessionPersistence: Send + Sync {
    fn list(&self) -> Result<Vec<PersistedSession>, PersistenceError>;
    fn inspect(&self, session_id: &str) -> Result<SessionLog, PersistenceError>;
}
#[derive(Debug, thiserror::Error)]
pub struct SessionQueryError {
    pub code: SessionQueryErrorCode,
    pub message: String,
    pub source: Option<Box<dyn Error + Send + Sync>>,
}
impl SessionQueryError {
    pub fn new(code: SessionQueryErrorCode, message: impl Into<String>) -> Self;
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self;
}
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
pub enum SessionQueryErrorCode {
    #[serde(rename = "SESSION_QUERY_ABORTED")]
    Aborted,
    #[serde(rename = "SESSION_QUERY_DUPLICATE_EXTRACTOR")]
    DuplicateExtractor,
    #[serde(rename = "SESSION_QUERY_DUPLICATE_PROVIDER")]
    DuplicateProvider,
    #[serde(rename = "SESSION_QUERY_EVENT_NOT_FOUND")]
    EventNotFound,
    #[serde(rename = "SESSION_QUERY_INDEX_FAILED")]
    IndexFailed,
    #[serde(rename = "SESSION_QUERY_INVALID_CONFIG")]
    InvalidConfig,
    #[serde(rename = "SESSION_QUERY_INVALID_EXTRACTOR")]
    InvalidExtractor,
    #[serde(rename = "SESSION_QUERY_INVALID_FILTER")]
    InvalidFilter,
    #[serde(rename = "SESSION_QUERY_INVALID_LIMIT")]
    InvalidLimit,
    #[serde(rename = "SESSION_QUERY_INVALID_LINEAGE")]
    InvalidLineage,
    #[serde(rename = "SESSION_QUERY_INVALID_QUERY")]
    InvalidQuery,
    #[serde(rename = "SESSION_QUERY_INVALID_SURFACE")]
    InvalidSurface,
    #[serde(rename = "SESSION_QUERY_INVALID_WINDOW")]
    InvalidWindow,
    #[serde(rename = "SESSION_QUERY_PERSISTENCE_FAILED")]
    PersistenceFailed,
    #[serde(rename = "SESSION_QUERY_PROVIDER_AMBIGUOUS")]
    ProviderAmbiguous,
    #[serde(rename = "SESSION_QUERY_PROVIDER_CONFIGURED_MISSING")]
    ProviderConfiguredMissing,
    #[serde(rename = "SESSION_QUERY_PROVIDER_CONFIGURED_UNAVAILABLE")]
    ProviderConfiguredUnavailable,
    #[serde(rename = "SESSION_QUERY_PROVIDER_ERROR")]
    ProviderError,
    #[serde(rename = "SESSION_QUERY_PROVIDER_UNAVAILABLE")]
    ProviderUnavailable,
    #[serde(rename = "SESSION_QUERY_SESSION_NOT_FOUND")]
    SessionNotFound,
    #[serde(rename = "SESSION_QUERY_SOURCE_CONFLICT")]
    SourceConflict,
}
impl SessionQueryErrorCode {
    pub const ALL: [Self; 21] = [
        Self::Aborted,
        Self::DuplicateExtractor,
        Self::DuplicateProvider,
        Self::EventNotFound,
        Self::IndexFailed,
        Self::InvalidConfig,
        Self::InvalidExtractor,
        Self::InvalidFilter,
        Self::InvalidLimit,
        Self::InvalidLineage,
        Self::InvalidQuery,
        Self::InvalidSurface,
        Self::InvalidWindow,
        Self::PersistenceFailed,
        Self::ProviderAmbiguous,
        Self::ProviderConfiguredMissing,
        Self::ProviderConfiguredUnavailable,
        Self::ProviderError,
        Self::ProviderUnavailable,
        Self::SessionNotFound,
        Self::SourceConflict,
    ];
    pub fn as_str(self) -> &'static str;
}
impl fmt::Display for SessionQueryErrorCode;
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    pub header: SessionHeader,
    pub live: bool,
    pub persisted: bool,
}
impl HasSession for SessionRecord;
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SessionResultFilter {
    Id { values: Vec<String> },
    Cwd { values: Vec<Option<String>> },
    CreatedAt {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<f64>,
    },
    Parent { values: Vec<Option<String>> },
    Availability { values: Vec<Availability> },
}
impl SessionResultFilter {
    pub fn from_json(value: &Value) -> Result<Self, SessionQueryError>;
    pub fn validate(&self) -> Result<(), SessionQueryError>;
    pub fn takes(&self, record: &SessionRecord) -> bool;
}
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSearchRequest {
    pub query: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub session_filters: Vec<SessionResultFilter>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub event_filters: Vec<EventResultFilter>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSearchSpec {
    pub query: String,
    pub session_filters: Vec<SessionResultFilter>,
    pub event_filters: Vec<EventResultFilter>,
    pub limit: usize,
    pub cursor: Option<String>,
}
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSnapshot {
    pub header: SessionHeader,
    pub agent: String,
    pub live: bool,
    pub persisted: bool,
    pub fingerprint: String,
    pub revision: Option<String>,
    pub extractors: String,
    pub events: u64,
    pub documents: Vec<Arc<EventDocument>>,
    pub shadowed: Vec<(u64, u64)>,
}
impl SessionSnapshot {
    pub fn surface(&self, document: &EventDocument) -> SurfaceState;
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionTrace {
    pub target: SessionRecord,
    pub parents: Vec<SessionRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<SessionRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unresolved_parent_id: Option<String>,
    pub children: Vec<SessionNode>,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnavailableReason {
    Misconfigured,
    Unavailable,
}
pub fn fingerprint<'a>(
    header: &SessionHeader,
    events: impl IntoIterator<Item = &'a Event>,
    versions: &ExtractorVersions,
) -> Result<String, serde_json::Error>;
pub fn fold_log<'a>(
    events: impl IntoIterator<Item = &'a Event>,
) -> Result<Surface, LogError>;
pub fn validate_header(header: &SessionHeader) -> Result<(), HeaderError>;
pub fn validate_log(events: &[Event]) -> Result<(), LogError>;
pub fn validate_next(state: &mut LogState, event: &Event) -> Result<(), LogError>;

// lookback_model::session_query::abort

pub trait AbortListener: Send + Sync {
    fn aborted(&self);
}
#[derive(Clone, Default)]
pub struct AbortSignal;
impl AbortSignal {
    pub fn new() -> Self;
    pub fn abort(&self);
    pub fn is_aborted(&self) -> bool;
    pub fn listen<L: AbortListener + 'static>(&self, listener: &Arc<L>);
}
impl fmt::Debug for AbortSignal;

// lookback_model::session_query::canonical

pub fn write(value: &Value, out: &mut Vec<u8>);

// lookback_model::session_query::error

#[derive(Debug, thiserror::Error)]
pub struct SessionQueryError {
    pub code: SessionQueryErrorCode,
    pub message: String,
    pub source: Option<Box<dyn Error + Send + Sync>>,
}
impl SessionQueryError {
    pub fn new(code: SessionQueryErrorCode, message: impl Into<String>) -> Self;
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self;
}
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
pub enum SessionQueryErrorCode {
    #[serde(rename = "SESSION_QUERY_ABORTED")]
    Aborted,
    #[serde(rename = "SESSION_QUERY_DUPLICATE_EXTRACTOR")]
    DuplicateExtractor,
    #[serde(rename = "SESSION_QUERY_DUPLICATE_PROVIDER")]
    DuplicateProvider,
    #[serde(rename = "SESSION_QUERY_EVENT_NOT_FOUND")]
    EventNotFound,
    #[serde(rename = "SESSION_QUERY_INDEX_FAILED")]
    IndexFailed,
    #[serde(rename = "SESSION_QUERY_INVALID_CONFIG")]
    InvalidConfig,
    #[serde(rename = "SESSION_QUERY_INVALID_EXTRACTOR")]
    InvalidExtractor,
    #[serde(rename = "SESSION_QUERY_INVALID_FILTER")]
    InvalidFilter,
    #[serde(rename = "SESSION_QUERY_INVALID_LIMIT")]
    InvalidLimit,
    #[serde(rename = "SESSION_QUERY_INVALID_LINEAGE")]
    InvalidLineage,
    #[serde(rename = "SESSION_QUERY_INVALID_QUERY")]
    InvalidQuery,
    #[serde(rename = "SESSION_QUERY_INVALID_SURFACE")]
    InvalidSurface,
    #[serde(rename = "SESSION_QUERY_INVALID_WINDOW")]
    InvalidWindow,
    #[serde(rename = "SESSION_QUERY_PERSISTENCE_FAILED")]
    PersistenceFailed,
    #[serde(rename = "SESSION_QUERY_PROVIDER_AMBIGUOUS")]
    ProviderAmbiguous,
    #[serde(rename = "SESSION_QUERY_PROVIDER_CONFIGURED_MISSING")]
    ProviderConfiguredMissing,
    #[serde(rename = "SESSION_QUERY_PROVIDER_CONFIGURED_UNAVAILABLE")]
    ProviderConfiguredUnavailable,
    #[serde(rename = "SESSION_QUERY_PROVIDER_ERROR")]
    ProviderError,
    #[serde(rename = "SESSION_QUERY_PROVIDER_UNAVAILABLE")]
    ProviderUnavailable,
    #[serde(rename = "SESSION_QUERY_SESSION_NOT_FOUND")]
    SessionNotFound,
    #[serde(rename = "SESSION_QUERY_SOURCE_CONFLICT")]
    SourceConflict,
}
impl SessionQueryErrorCode {
    pub const ALL: [Self; 21] = [
        Self::Aborted,
        Self::DuplicateExtractor,
        Self::DuplicateProvider,
        Self::EventNotFound,
        Self::IndexFailed,
        Self::InvalidConfig,
        Self::InvalidExtractor,
        Self::InvalidFilter,
        Self::InvalidLimit,
        Self::InvalidLineage,
        Self::InvalidQuery,
        Self::InvalidSurface,
        Self::InvalidWindow,
        Self::PersistenceFailed,
        Self::ProviderAmbiguous,
        Self::ProviderConfiguredMissing,
        Self::ProviderConfiguredUnavailable,
        Self::ProviderError,
        Self::ProviderUnavailable,
        Self::SessionNotFound,
        Self::SourceConflict,
    ];
    pub fn as_str(self) -> &'static str;
}
impl fmt::Display for SessionQueryErrorCode;

// lookback_model::session_query::filter

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Availability {
    Live,
    Persisted,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum EventResultFilter {
    Seq {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<f64>,
    },
    Time {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<f64>,
    },
    Type { values: Vec<String> },
    Surface { values: Vec<SurfaceState> },
}
impl EventResultFilter {
    pub fn from_json(value: &Value) -> Result<Self, SessionQueryError>;
    pub fn validate(&self) -> Result<(), SessionQueryError>;
    pub fn takes(&self, record: &EventRecord) -> bool;
    pub fn takes_parts(
        &self,
        seq: u64,
        time: Timestamp,
        is_type: &dyn Fn(&String) -> bool,
        surface: &dyn Fn() -> SurfaceState,
    ) -> bool;
}
pub trait HasEvent {
    fn event(&self) -> &EventRecord;
}
pub trait HasSession {
    fn session(&self) -> &SessionRecord;
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SessionResultFilter {
    Id { values: Vec<String> },
    Cwd { values: Vec<Option<String>> },
    CreatedAt {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<f64>,
    },
    Parent { values: Vec<Option<String>> },
    Availability { values: Vec<Availability> },
}
impl SessionResultFilter {
    pub fn from_json(value: &Value) -> Result<Self, SessionQueryError>;
    pub fn validate(&self) -> Result<(), SessionQueryError>;
    pub fn takes(&self, record: &SessionRecord) -> bool;
}
pub fn filter_event_results<T: HasEvent>(
    items: impl IntoIterator<Item = T>,
    filters: &[EventResultFilter],
) -> Result<Vec<T>, SessionQueryError>;
pub fn filter_session_results<T: HasSession>(
    items: impl IntoIterator<Item = T>,
    filters: &[SessionResultFilter],
) -> Result<Vec<T>, SessionQueryError>;

// lookback_model::session_query::fingerprint

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractorVersions {
    pub events: BTreeMap<String, String>,
    pub blocks: BTreeMap<String, String>,
}
pub fn fingerprint<'a>(
    header: &SessionHeader,
    events: impl IntoIterator<Item = &'a Event>,
    versions: &ExtractorVersions,
) -> Result<String, serde_json::Error>;

// lookback_model::session_query::persistence

#[derive(Clone, Debug, PartialEq)]
pub struct PersistedSession {
    pub header: SessionHeader,
    pub agent: String,
    pub revision: Option<String>,
}
#[derive(Debug, thiserror::Error)]
pub enum PersistenceError {
    NotFound { session_id: String },
    Query(SessionQueryError),
    Other(Box<dyn Error + Send + Sync>),
}
#[derive(Clone, Debug, PartialEq)]
pub struct SessionLog {
    pub header: SessionHeader,
    pub events: Vec<Event>,
}
pub trait SessionPersistence: Send + Sync {
    fn list(&self) -> Result<Vec<PersistedSession>, PersistenceError>;
    fn inspect(&self, session_id: &str) -> Result<SessionLog, PersistenceError>;
}

// lookback_model::session_query::provider

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CursorRefusal {
    Stale,
    Malformed,
}
impl CursorRefusal {
    pub fn as_str(&self) -> &'static str;
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDocument {
    pub seq: u64,
    pub time: Timestamp,
    pub type_name: String,
    pub has_marker: bool,
    pub copy_key: u64,
    pub pieces: Vec<(TextKind, String)>,
}
impl EventDocument {
    pub fn text(&self) -> String;
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InventoryEntry {
    pub session_id: String,
    pub fingerprint: String,
    pub revision: Option<String>,
    pub extractors: String,
}
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    Query(SessionQueryError),
    Other(Box<dyn Error + Send + Sync>),
}
impl ProviderError {
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self;
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderStatus {
    Available,
    Unavailable(UnavailableReason),
}
pub trait SearchProvider: Send + Sync {
    fn id(&self) -> &str;
    fn status(&self) -> ProviderStatus;
    fn persisted_inventory(&self) -> Result<Vec<InventoryEntry>, ProviderError>;
    fn replace_persisted(&self, snapshot: &SessionSnapshot) -> Result<(), ProviderError>;
    fn remove_persisted(&self, session_id: &str) -> Result<(), ProviderError>;
    fn set_persisted_active(&self, active: bool) -> Result<(), ProviderError>;
    fn replace_live(&self, snapshot: &SessionSnapshot) -> Result<(), ProviderError>;
    fn remove_live(&self, session_id: &str) -> Result<(), ProviderError>;
    fn search_sessions(
        &self,
        spec: &SessionSearchSpec,
        abort: &AbortSignal,
    ) -> Result<SearchPage<SessionHit>, ProviderError>;
    fn search_events(
        &self,
        spec: &SessionEventSearchSpec,
        abort: &AbortSignal,
    ) -> Result<SearchPage<EventHit>, ProviderError>;
}
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSnapshot {
    pub header: SessionHeader,
    pub agent: String,
    pub live: bool,
    pub persisted: bool,
    pub fingerprint: String,
    pub revision: Option<String>,
    pub extractors: String,
    pub events: u64,
    pub documents: Vec<Arc<EventDocument>>,
    pub shadowed: Vec<(u64, u64)>,
}
impl SessionSnapshot {
    pub fn surface(&self, document: &EventDocument) -> SurfaceState;
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnavailableReason {
    Misconfigured,
    Unavailable,
}

// lookback_model::session_query::record

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventRecord {
    pub session_id: String,
    pub seq: u64,
    pub time: Timestamp,
    pub r#type: String,
    pub surface: SurfaceState,
}
impl HasEvent for EventRecord;
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    pub header: SessionHeader,
    pub live: bool,
    pub persisted: bool,
}
impl HasSession for SessionRecord;

// lookback_model::session_query::request

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventHit {
    #[serde(flatten)]
    pub event: EventRecord,
    pub snippet: String,
}
impl HasEvent for EventHit;
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadEventRequest {
    pub session_id: String,
    pub seq: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadEventResult {
    pub session: SessionRecord,
    pub target: Event,
    pub events: Vec<Event>,
    pub start_seq: u64,
    pub end_seq: u64,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchPage<T> {
    pub provider_id: String,
    pub items: Vec<T>,
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEventSearchRequest {
    pub session_id: String,
    pub query: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<EventResultFilter>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
#[derive(Clone, Debug, PartialEq)]
pub struct SessionEventSearchSpec {
    pub session_id: String,
    pub query: String,
    pub filters: Vec<EventResultFilter>,
    pub limit: usize,
    pub cursor: Option<String>,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionHit {
    #[serde(flatten)]
    pub session: SessionRecord,
    pub best_match: EventHit,
}
impl HasSession for SessionHit;
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSearchRequest {
    pub query: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub session_filters: Vec<SessionResultFilter>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub event_filters: Vec<EventResultFilter>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSearchSpec {
    pub query: String,
    pub session_filters: Vec<SessionResultFilter>,
    pub event_filters: Vec<EventResultFilter>,
    pub limit: usize,
    pub cursor: Option<String>,
}

// lookback_model::session_query::trace

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventTrace {
    pub target: EventRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadowed_by: Option<u64>,
    pub replacement_chain: Vec<u64>,
    pub shadows: Vec<u64>,
    pub references: Vec<u64>,
    pub referenced_by: Vec<u64>,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionNode {
    pub session: SessionRecord,
    pub children: Vec<SessionNode>,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionTrace {
    pub target: SessionRecord,
    pub parents: Vec<SessionRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<SessionRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unresolved_parent_id: Option<String>,
    pub children: Vec<SessionNode>,
}

// lookback_model::session_query::validate

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    UnknownVersion { id: String, version: u32 },
    NoId,
    ImpossibleTime { id: String, created_at: i64 },
    RelativeCwd { id: String, cwd: String },
    ImpossibleCount { id: String, field: &'static str, value: u64 },
}
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    NotContiguous { seq: u64, expected: u64 },
    NotEligible { seq: u64, type_name: String },
    SourcesWithoutMarker { seq: u64 },
    SourceNotEarlier { seq: u64, source_seq: u64 },
    SourceRepeated { seq: u64, source_seq: u64 },
    NoSources { seq: u64 },
    SourceMissing { seq: u64, shadowed: u64 },
    NotOneToolResult { seq: u64 },
    ToolResultChanged { seq: u64, shadowed: u64 },
    NotJson { seq: u64, reason: &'static str },
    Surface(SurfaceError),
}
#[derive(Clone, Debug, Default)]
pub struct LogState;
impl LogState {
    pub fn length(&self) -> u64;
    pub fn surface(&self) -> &Surface;
    pub fn follow(&mut self, event: &Event) -> Result<(), LogError>;
}
pub fn fold_log<'a>(
    events: impl IntoIterator<Item = &'a Event>,
) -> Result<Surface, LogError>;
pub fn validate_header(header: &SessionHeader) -> Result<(), HeaderError>;
pub fn validate_log(events: &[Event]) -> Result<(), LogError>;
pub fn validate_next(state: &mut LogState, event: &Event) -> Result<(), LogError>;

// lookback_model::source

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentGuard {
    pub head: u64,
    pub head_length: u64,
    pub tail: u64,
    pub tail_length: u64,
}
impl ContentGuard {
    pub const SPAN: u64 = 1_024;
}
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    pub files: Vec<SourceFile>,
    pub issues: Vec<DiscoveryIssue>,
    pub ignored: BTreeMap<&'static str, u64>,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveryIssue {
    pub path: PathBuf,
    pub code: IssueCode,
    pub detail: String,
}
pub trait EventSink {
    fn begin(&mut self, session_id: &str, resumed: bool) -> Result<(), SinkClosed>;
    fn event(&mut self, event: Event) -> Result<(), SinkClosed>;
    fn end(&mut self, session: ReadSession) -> Result<(), SinkClosed>;
    fn title(&mut self, title: SideTitle);
    fn tool_text_wanted(&self) -> usize;
    fn record(&mut self, _bytes: &[u8]);
    fn wants(&self, _session_id: &str) -> bool;
    fn has_enough(&self) -> bool;
}
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
#[serde(rename_all = "lowercase")]
pub enum FileRole {
    Transcript,
    Side,
    Fed,
}
impl FileRole {
    pub fn as_str(self) -> &'static str;
    pub fn from_name(name: &str) -> Self;
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileStamp {
    pub size: u64,
    pub modified_ns: i64,
    pub device: u64,
    pub inode: u64,
}
impl FileStamp {
    pub fn modified(&self) -> Timestamp;
    pub fn revision(&self) -> String;
    pub fn same_file(&self, other: &Self) -> bool;
}
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
#[serde(rename_all = "snake_case")]
pub enum IssueCode {
    PermissionDenied,
    DanglingLink,
    IoError,
    NotAFile,
    PartialTail,
    NotJson,
    NotARecord,
    NulBytes,
    Repaired,
    EmptyFile,
    NoSessionHeader,
    TextCut,
    DamagedDatabase,
    UnreadableDatabase,
    Unsupported,
}
impl IssueCode {
    pub fn as_str(self) -> &'static str;
    pub fn is_loss(self) -> bool;
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineIssue {
    pub line: u64,
    pub code: IssueCode,
    pub detail: String,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Position {
    Lines { offset: u64, line: u64, guard: ContentGuard },
    Whole,
    Rows { sessions: u64 },
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawWords {
    pub is_json: bool,
    pub added: &'static [&'static str],
}
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReadAccount {
    pub bytes: u64,
    pub lines: u64,
    pub records: u64,
    pub bookkeeping: u64,
    pub blank: u64,
    pub lost: u64,
    pub unknown_types: BTreeMap<String, u64>,
    pub issue_counts: BTreeMap<String, u64>,
    pub issues: Vec<LineIssue>,
}
impl ReadAccount {
    pub const ISSUES_KEPT: usize = 50;
    pub fn note(&mut self, line: u64, code: IssueCode, detail: impl Into<String>);
    pub fn note_unknown(&mut self, name: &str);
    pub fn add(&mut self, later: &Self);
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadCursor {
    pub position: Position,
    pub state: String,
}
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    Io { path: PathBuf, source: std::io::Error },
    StaleCursor { path: PathBuf },
    Changed { path: PathBuf },
    NoSession { path: PathBuf, code: IssueCode, detail: String },
    Closed(SinkClosed),
}
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOutcome {
    pub cursor: ReadCursor,
    pub account: ReadAccount,
}
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSession {
    pub header: SessionHeader,
    pub facts: SessionFacts,
    pub shadowed: Vec<(u64, u64)>,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumeCommand {
    pub arguments: Vec<String>,
    pub directory: Option<String>,
}
pub trait SessionSource: Send + Sync {
    fn agent(&self) -> &'static str;
    fn roots(&self, environment: &Environment) -> Vec<PathBuf>;
    fn discover(&self, root: &std::path::Path, found: &mut Discovery);
    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError>;
    fn raw_words(&self, _file: &SourceFile) -> RawWords;
    fn resume(
        &self,
        session: &SessionHeader,
        facts: &SessionFacts,
    ) -> Option<ResumeCommand>;
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideTitle {
    pub agent: String,
    pub session_id: String,
    pub title: String,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SinkClosed;
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    pub agent: String,
    pub root: PathBuf,
    pub path: PathBuf,
    pub role: FileRole,
    pub stamp: FileStamp,
}

// lookback_model::surface

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    pub by: u64,
    pub shadowed: Vec<u64>,
}
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surface;
impl Surface {
    pub fn of<'a>(
        events: impl IntoIterator<Item = &'a Event>,
    ) -> Result<Self, SurfaceError>;
    pub fn resume(current: Vec<u64>) -> Self;
    pub fn take_replacement(&mut self) -> Option<Replacement>;
    pub fn apply(&mut self, event: &Event) -> Result<(), SurfaceError>;
    pub fn apply_op(&mut self, seq: u64, op: SurfaceOp) -> Result<(), SurfaceError>;
    pub fn slice(
        &self,
        seq: u64,
        start: u64,
        end: u64,
    ) -> Result<RangeInclusive<usize>, SurfaceError>;
    pub fn current(&self) -> &[u64];
    pub fn replacements(&self) -> &[Replacement];
    pub fn position(&self, seq: u64) -> Option<usize>;
    pub fn states(&self, length: u64) -> Vec<SurfaceState>;
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceError {
    StartNotOnSurface { seq: u64, start: u64 },
    EndNotOnSurface { seq: u64, end: u64 },
    StartAfterEnd { seq: u64, start: u64, end: u64 },
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SurfaceState {
    Current,
    Shadowed,
    LogOnly,
}
impl SurfaceState {
    pub fn within(has_marker: bool, seq: u64, shadowed: &[(u64, u64)]) -> Self;
}

// lookback_model::text

pub const CHUNK_LIMIT: usize = 8_000;
#[derive(Clone, Debug)]
pub struct Chunks<'a>;
impl<'a> Iterator for Chunks<'a>;
pub const TOOL_TEXT_LIMIT: usize = 3_072;
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
#[serde(rename_all = "lowercase")]
pub enum TextKind {
    User,
    Agent,
    Reasoning,
    Call,
    Result,
    Context,
}
impl TextKind {
    pub const ALL: [Self; 6] = [
        Self::User,
        Self::Agent,
        Self::Reasoning,
        Self::Call,
        Self::Result,
        Self::Context,
    ];
    pub fn code(self) -> u64;
    pub fn from_code(code: u64) -> Option<Self>;
    pub fn role(self) -> &'static str;
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPiece<'a> {
    pub kind: TextKind,
    pub text: Cow<'a, str>,
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    Conversation,
    Full,
    Everything,
    Plain,
}
impl View {
    pub fn kinds(self) -> &'static [TextKind];
}
pub fn chunks(text: &str) -> Chunks<'_>;
pub fn head_utf16(text: &str, limit: usize) -> &str;
pub fn pieces(event: &Event) -> Vec<TextPiece<'_>>;
pub fn readable_arguments(arguments: &str) -> Cow<'_, str>;
pub fn speaks(message: &Message) -> bool;

// lookback_model::time

#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);
impl Timestamp {
    pub fn from_number(number: f64) -> Option<Self>;
    pub fn parse(text: &str) -> Option<Self>;
    pub fn from_json(value: &serde_json::Value) -> Option<Self>;
    pub fn utc_date(self) -> Option<(i16, u32, u32)>;
    pub fn to_rfc3339(self) -> String;
}
impl fmt::Display for Timestamp;
