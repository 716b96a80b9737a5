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
    pub fn transcript(&self, session: &SessionRow) -> Result<Transcript, EngineError>;
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
    Read(ReadError),
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
