//! Any bytes as a transcript of Gemini, see `lookback_testkit::fuzzing`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lookback_readers::formats::gemini::Gemini;
use lookback_testkit::fuzzing;

fuzz_target!(|data: &[u8]| fuzzing::reader(&Gemini, fuzzing::GEMINI, data));
