//! The body of the fuzz target `rpc_stream` on lines that are nearly right. A fuzzer finds more; this runs with
//! every test.

use lookback_testkit::fuzzing;
use proptest::prelude::*;

const LINES: [&str; 6] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"sessionQuery.listSessions"}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"query":"x","limit":1,"sessionFilters":[{"kind":"cwd","values":[null]}]}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"m","params":{"sessionId":"s","seq":1,"before":0}}"#,
    r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s","events":[{"time":1,"type":"user/message","data":{"content":[]}}]}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"m","params":{"header":{"id":"s","createdAt":1}}}"#,
    r#"[{"jsonrpc":"2.0","id":null,"method":"m","params":[]},1]"#,
];

proptest! {
    /// Property: lines with pieces taken out, doubled and exchanged are answered by lines that can be read.
    #[test]
    fn damaged_lines_are_answered(
        picks in prop::collection::vec((0usize..LINES.len(), any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..8),
        limit in any::<u8>(),
        noise in prop::collection::vec(any::<u8>(), 0..4),
    ) {
        let mut data = vec![limit];
        for (pick, from, to) in picks {
            let line = LINES.get(pick).copied().unwrap_or_default().as_bytes();
            let (from, to) = (from.index(line.len()), to.index(line.len()));
            data.extend_from_slice(line.get(..from.max(to)).unwrap_or_default());
            data.extend_from_slice(&noise);
            data.extend_from_slice(line.get(from.min(to)..).unwrap_or_default());
            data.push(b'\n');
        }
        fuzzing::rpc_stream(&data);
    }

    /// Property: so are whole lines.
    #[test]
    fn whole_lines_are_answered(picks in prop::collection::vec(0usize..LINES.len(), 1..8), limit in any::<u8>()) {
        let lines: Vec<&str> = picks.iter().filter_map(|&pick| LINES.get(pick).copied()).collect();
        let mut data = vec![limit];
        data.extend_from_slice(lines.join("\n").as_bytes());
        fuzzing::rpc_stream(&data);
    }
}
