//! Any bytes as a transcript of Codex, see `lookback_testkit::fuzzing`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lookback_readers::formats::codex::Codex;
use lookback_testkit::fuzzing;

fuzz_target!(|data: &[u8]| fuzzing::reader(&Codex, fuzzing::CODEX, data));
