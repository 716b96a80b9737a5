//! Any bytes as a transcript of Claude, see `lookback_testkit::fuzzing`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lookback_readers::formats::claude::Claude;
use lookback_testkit::fuzzing;

fuzz_target!(|data: &[u8]| fuzzing::reader(&Claude, fuzzing::CLAUDE, data));
