//! Any bytes as a query, see `lookback_testkit::fuzzing`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lookback_testkit::fuzzing;

fuzz_target!(|data: &[u8]| fuzzing::query_parse(data));
