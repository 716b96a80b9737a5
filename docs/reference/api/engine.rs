// The public interface of lookback_engine: its items without their bodies.
// Written by `cargo xtask docs` from the sources. Change those, not this page.

// lookback_engine

pub use lookback_readers::registry::SOURCES;
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentReport {
    pub agent: String,
    pub roots: Vec<RootReport>,
    pub sessions: u64,
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    Smart,
    Ignored,
    Exact,
}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DoctorReport {
    pub agents: Vec<AgentReport>,
    pub files: Vec<FileReport>,
    pub not_indexed: Vec<NotIndexed>,
    pub issues: Vec<FileIssue>,
    pub issues_not_named: u64,
}
pub struct Engine;
impl Engine {
    pub fn new(parts: Parts) -> Self;
    #[must_use]
    pub fn commit_after(mut self, first: Duration) -> Self;
    pub fn reconcile(
        &self,
        options: ReconcileOptions,
        progress: &dyn Progress,
    ) -> Result<Reconciled, EngineError>;
    pub fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, EngineError>;
    pub fn sessions(
        &self,
        filter: &SessionFilter,
    ) -> Result<Vec<SessionRow>, EngineError>;
    pub fn session(&self, id: &str) -> Result<SessionRow, EngineError>;
    pub fn transcript(
        &self,
        service: &SessionQuery,
        session: &SessionRow,
    ) -> Result<Transcript, EngineError>;
    pub fn grep(
        &self,
        request: &GrepRequest,
        each: &mut dyn FnMut(SessionHits) -> ControlFlow<()>,
    ) -> GrepReport;
    pub fn status(&self) -> Result<Status, EngineError>;
    pub fn doctor(&self) -> Result<DoctorReport, EngineError>;
}
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    Store(StoreError),
    NoSuchSession { id: String },
    AmbiguousSession { id: String, candidates: Vec<SessionRow> },
    Query(SessionQueryError),
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIssue {
    pub agent: String,
    pub path: PathBuf,
    pub line: Option<u64>,
    pub code: IssueCode,
    pub detail: String,
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepHit {
    pub seq: u64,
    pub time: Timestamp,
    pub kind: TextKind,
    pub line: u64,
    pub text: String,
    pub matches: Vec<Range<usize>>,
    pub before: Vec<String>,
    pub after: Vec<String>,
}
#[derive(Debug, Default)]
pub struct GrepReport {
    pub files: u64,
    pub gone: u64,
    pub files_decoded: u64,
    pub issues: Vec<FileIssue>,
    pub not_recalled: Option<StoreError>,
}
#[derive(Clone, Debug)]
pub struct GrepRequest {
    pub pattern: Pattern,
    pub view: View,
    pub filter: SessionFilter,
    pub per_session: u64,
    pub context: Option<(usize, usize)>,
    pub workers: usize,
}
pub type NotIndexed = (SourceFile, String);
pub struct Parts {
    pub environment: Environment,
    pub sources: &'static [&'static dyn SessionSource],
    pub catalogue: Arc<dyn Catalogue>,
    pub provider: Arc<dyn SessionSearch>,
    pub sink: Arc<dyn IndexSink>,
    pub caps: TextCaps,
    pub workers: usize,
    pub clock: fn() -> Timestamp,
}
#[derive(Clone, Debug)]
pub struct Pattern;
impl Pattern {
    pub fn new(text: &str, options: PatternOptions) -> Result<Self, PatternError>;
}
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    Empty,
    Syntax { position: usize, reason: String },
    TooLarge,
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatternOptions {
    pub fixed: bool,
    pub case: Case,
    pub words: bool,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Idle,
    Indexing,
    Current,
    Degraded,
    Closed,
}
impl Phase {
    pub fn as_str(self) -> &'static str;
}
pub trait Progress: Sync {
    fn planned(&self, files: u64, bytes: u64);
    fn advanced(&self, files: u64, bytes: u64);
    fn committed(&self, _generation: u64);
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReconcileOptions {
    pub deadline: Option<Instant>,
    pub verify: bool,
}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reconciled {
    pub files_seen: u64,
    pub files_unchanged: u64,
    pub files_read: u64,
    pub files_failed: u64,
    pub sessions_read: u64,
    pub documents_added: u64,
    pub bytes_read: u64,
    pub lines_lost: u64,
    pub generation: u64,
    pub duration: Duration,
    pub complete: bool,
    pub writer_busy: bool,
    pub issues: Vec<FileIssue>,
    pub issues_dropped: u64,
}
impl Reconciled {
    pub const ISSUES_KEPT: usize = 1_000;
}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RootReport {
    pub path: PathBuf,
    pub exists: bool,
    pub files: u64,
    pub bytes: u64,
    pub issues: Vec<FileIssue>,
    pub ignored: BTreeMap<&'static str, u64>,
}
#[derive(Clone, Debug, PartialEq)]
pub struct SessionHits {
    pub agent: String,
    pub session_id: String,
    pub title: Option<String>,
    pub cwd: Option<String>,
    pub path: PathBuf,
    pub from_archive: bool,
    pub count: u64,
    pub hits: Vec<GrepHit>,
}
#[derive(Clone, Debug, PartialEq)]
pub struct ShownEvent {
    pub seq: u64,
    pub time: Timestamp,
    pub type_name: String,
    pub role: &'static str,
    pub kind: Option<TextKind>,
    pub surface: SurfaceState,
    pub text: String,
    pub pieces: Vec<(TextKind, String)>,
    pub source: Option<String>,
}
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    pub phase: Phase,
    pub counts: CatalogueCounts,
    pub degraded_roots: Vec<(PathBuf, String)>,
}
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    pub from_archive: bool,
    pub events: Vec<ShownEvent>,
}
pub const WHOLE_LOG: usize = u32::MAX as usize;

// lookback_engine::event_log

#[derive(Debug, thiserror::Error)]
pub enum Damage {
    NotARecord(serde_json::Error),
    Gap { expected: u64, found: u64 },
    TooLong,
    OtherSession { found: String },
}
#[derive(Debug)]
pub struct EventLog;
impl EventLog {
    pub fn open(folder: impl Into<PathBuf>, fsync: Fsync) -> Result<Self, LogError>;
    pub fn create(&self, header: &SessionHeader) -> Result<LogWriter, LogError>;
    pub fn resume(&self, session_id: &str) -> Result<Resumed, LogError>;
    pub fn damaged(&self) -> Result<Vec<LogError>, LogError>;
}
impl SessionPersistence for EventLog;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fsync {
    Never,
    EachAppend,
    Every(Duration),
    EachBytes(u64),
}
pub const LINE_LIMIT: usize = 64 * 1024 * 1024;
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    Io { path: PathBuf, source: io::Error },
    Damaged { path: PathBuf, line: u64, damage: Damage },
    Version { path: PathBuf, found: u32 },
    Exists { id: String },
    NotFound { id: String },
    InUse { path: PathBuf },
    OutOfOrder { expected: u64, found: u64 },
    TooLong { seq: u64, bytes: usize },
    NotJson { seq: u64, source: serde_json::Error },
    Closed { path: PathBuf },
}
#[derive(Debug)]
pub struct LogRecorder;
impl LiveRecorder for LogRecorder;
impl LogRecorder {
    pub fn new(log: Arc<EventLog>) -> Self;
    pub fn resume(&self, session_id: &str) -> Result<SessionLog, LogError>;
    pub fn began(&self, header: &SessionHeader, seed: &[Event]) -> Result<(), LogError>;
    pub fn appended(&self, session_id: &str, events: &[Event]) -> Result<(), LogError>;
    pub fn ended(&self, session_id: &str) -> Result<(), LogError>;
}
#[derive(Clone, Debug)]
pub struct LogWriter;
impl LogWriter {
    pub fn append(&self, events: &[Event]) -> Result<(), LogError>;
    pub fn next_seq(&self) -> Result<u64, LogError>;
    pub fn unsynced(&self) -> Result<u64, LogError>;
    pub fn sync(&self) -> Result<(), LogError>;
    pub fn close(&self) -> Result<(), LogError>;
}
#[derive(Debug)]
pub struct Resumed {
    pub writer: LogWriter,
    pub log: SessionLog,
    pub dropped_bytes: u64,
    pub repairs: usize,
}

// lookback_engine::session_query

pub trait ContentTextExtractor: Send + Sync {
    fn version(&self) -> &str;
    fn fragments(&self, block: &Value) -> Result<Vec<String>, ExtractError>;
}
#[must_use = "a drain does nothing unless it is waited for"]
pub struct Drain;
impl Drain {
    pub fn wait(self);
    pub fn is_done(&self) -> bool;
}
impl Future for Drain;
impl fmt::Debug for Drain;
pub trait EventTextExtractor: Send + Sync {
    fn version(&self) -> &str;
    fn fragments(&self, event: &Event) -> Result<Vec<String>, ExtractError>;
}
pub type ExtractError = Box<dyn Error + Send + Sync>;
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LiveError {
    Header(HeaderError),
    Log(LogError),
    AlreadyLive { id: String },
    Unknown { id: String },
    Ended { id: String },
    InvalidBoundary { id: String, boundary: f64, length: usize },
    NotKept { id: String, reason: String },
    OpenTurn { id: String, boundary: usize },
}
pub trait LiveRecorder: Send + Sync {
    fn began(
        &self,
        header: &SessionHeader,
        seed: &[Arc<Event>],
    ) -> Result<(), RecordError>;
    fn appended(
        &self,
        session_id: &str,
        events: &[Arc<Event>],
    ) -> Result<(), RecordError>;
    fn ended(&self, session_id: &str) -> Result<(), RecordError>;
}
#[derive(Clone)]
pub struct LiveSession;
impl LiveSession {
    pub fn id(&self) -> &str;
    pub fn header(&self) -> &SessionHeader;
    pub fn event_count(&self) -> u64;
    pub fn append(&self, event: NewEvent) -> Result<Event, LiveError>;
    pub fn append_all(&self, events: Vec<NewEvent>) -> Result<Vec<Event>, LiveError>;
    pub fn end(&self) -> Result<(), LiveError>;
    pub fn fork(
        &self,
        child: SessionHeader,
        boundary: Option<f64>,
    ) -> Result<LiveSession, LiveError>;
}
impl fmt::Debug for LiveSession;
#[derive(Clone, Default)]
pub struct LiveSessions;
impl LiveSessions {
    pub fn new() -> Self;
    pub fn recorded_by(recorder: Arc<dyn LiveRecorder>) -> Self;
    pub fn create(
        &self,
        header: SessionHeader,
        seed: Vec<Event>,
    ) -> Result<LiveSession, LiveError>;
    pub fn get(&self, id: &str) -> Option<LiveSession>;
    pub fn ids(&self) -> Vec<String>;
    pub fn fork(
        &self,
        source: &str,
        child: SessionHeader,
        boundary: Option<f64>,
    ) -> Result<LiveSession, LiveError>;
}
impl fmt::Debug for LiveSessions;
#[must_use = "dropping it unmounts the persistence"]
pub struct Mounted;
impl Drop for Mounted;
impl Mounted {
    pub fn announce(&self, session: PersistedSession);
}
impl fmt::Debug for Mounted;
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    pub time: Timestamp,
    pub data: EventData,
    pub surface_op: Option<SurfaceOp>,
    pub source_event_seqs: Option<Vec<u64>>,
    pub native_id: Option<String>,
}
impl NewEvent {
    pub fn new(time: Timestamp, data: EventData) -> Self;
}
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Panicked {
    pub message: String,
}
pub type RecordError = Box<dyn Error + Send + Sync>;
#[must_use = "dropping a registration unregisters"]
pub struct Registration;
impl Drop for Registration;
impl Registration {
    pub fn drain(self) -> Drain;
}
impl fmt::Debug for Registration;
#[derive(Clone)]
pub struct SessionQuery;
impl SessionQuery {
    pub fn new(
        config: SessionQueryConfig,
        live: LiveSessions,
    ) -> Result<Self, SessionQueryError>;
    pub fn live(&self) -> &LiveSessions;
    pub fn list_sessions(&self) -> Result<Vec<SessionRecord>, SessionQueryError>;
    pub fn list_events(
        &self,
        session_id: &str,
    ) -> Result<Vec<EventRecord>, SessionQueryError>;
    pub fn read_event(
        &self,
        request: &ReadEventRequest,
    ) -> Result<ReadEventResult, SessionQueryError>;
    pub fn trace_session(
        &self,
        session_id: &str,
    ) -> Result<SessionTrace, SessionQueryError>;
    pub fn trace_event(
        &self,
        session_id: &str,
        seq: f64,
    ) -> Result<EventTrace, SessionQueryError>;
    pub fn search_sessions(
        &self,
        request: &SessionSearchRequest,
        abort: &AbortSignal,
    ) -> Result<SearchPage<SessionHit>, SessionQueryError>;
    pub fn search_events(
        &self,
        request: &SessionEventSearchRequest,
        abort: &AbortSignal,
    ) -> Result<SearchPage<EventHit>, SessionQueryError>;
    pub fn register_search_provider(
        &self,
        provider: Arc<dyn SearchProvider>,
    ) -> Result<Registration, SessionQueryError>;
    pub fn register_event_text_extractor(
        &self,
        type_name: &str,
        extractor: Arc<dyn EventTextExtractor>,
    ) -> Result<Registration, SessionQueryError>;
    pub fn register_content_text_extractor(
        &self,
        block_type: &str,
        extractor: Arc<dyn ContentTextExtractor>,
    ) -> Result<Registration, SessionQueryError>;
    pub fn mount(&self, persistence: Arc<dyn SessionPersistence>) -> Mounted;
}
impl fmt::Debug for SessionQuery;
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SessionQueryConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_provider: Option<String>,
    pub default_limit: usize,
    pub max_limit: usize,
    pub read_window_max: usize,
}
impl Default for SessionQueryConfig;
impl SessionQueryConfig {
    pub fn from_json(value: &Value) -> Result<Self, SessionQueryError>;
    pub fn validate(&self) -> Result<(), SessionQueryError>;
}

// lookback_engine::transcript_persistence

#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    Catalogue(StoreError),
    Read(ReadError),
    Reader { agent: String, path: PathBuf },
}
pub struct TranscriptPersistence;
impl SessionPersistence for TranscriptPersistence;
impl TranscriptPersistence {
    pub fn new(
        environment: Environment,
        sources: &'static [&'static dyn SessionSource],
        catalogue: Arc<dyn Catalogue>,
    ) -> Self;
    pub fn unread(&self) -> Vec<Unread>;
}
#[derive(Clone, Debug)]
pub struct Unread {
    pub path: PathBuf,
    pub error: Arc<TranscriptError>,
}
