//! Any bytes as what a program writes to a relay, see `lookback_testkit::fuzzing`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lookback_testkit::fuzzing;

fuzz_target!(|data: &[u8]| fuzzing::rpc_stream(data));
