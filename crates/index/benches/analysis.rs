//! How quickly text becomes terms, beside tantivy's default tokenizer and a cut at white space alone.
//!
//! `cargo bench -p lookback-index --bench analysis`. They take turns, so that a busy machine slows all, and the
//! best of each is taken.

#![allow(clippy::print_stdout, reason = "its only output")]

use lookback_index::analyze::Analyzer;
use std::time::Instant;
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};

const ROUNDS: usize = 15;
const BYTES: usize = 4 << 20;

const PROSE: &str = "The printer stalls because the spooler waits until its queue has room, which never happens \
    while the lock is held. Let me look at how often we retry, and whether the café's 2nd ticket is printed. ";
const CODE: &str = "    let session_id = self.getUserById(request.user_id)?; // see src/http/HTTPServer.rs:142\n\
    error[E0308]: mismatched types, expected `Option<u32>`, found `0x7fff5694`\n";
const UNSPACED: &str = "打印机停止的原因是队列已满，所以一直在等待。検索結果の並び順が間違っています。";

fn main() {
    // Tests of all targets start this as well, without the word that `cargo bench` passes.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    println!(
        "| text | lookback, prose | lookback, tools | tantivy default | white space | prose to tantivy |"
    );
    println!("|---|---|---|---|---|---|");
    for (name, sample) in [("prose", PROSE), ("code", CODE), ("unspaced", UNSPACED)] {
        compare(name, &sample.repeat(BYTES / sample.len()));
    }
}

fn compare(name: &str, text: &str) {
    let mut prose = TextAnalyzer::from(Analyzer::default());
    let mut tools = TextAnalyzer::from(Analyzer::without_wholes());
    let mut tantivy = TokenizerManager::default().get("default").unwrap_or_default();
    let mut best = [f64::INFINITY; 4];
    for _ in 0..ROUNDS {
        let times = [
            seconds(|| bytes_of_terms(&mut prose, text)),
            seconds(|| bytes_of_terms(&mut tools, text)),
            seconds(|| bytes_of_terms(&mut tantivy, text)),
            seconds(|| text.split_whitespace().map(str::len).sum()),
        ];
        for (best, time) in best.iter_mut().zip(times) {
            *best = best.min(time);
        }
    }
    let [prose, tools, tantivy, space] = best.map(|seconds| text.len() as f64 / 1e6 / seconds);
    println!(
        "| {name} | {prose:.0} MB/s | {tools:.0} MB/s | {tantivy:.0} MB/s | {space:.0} MB/s | {:.2} |",
        prose / tantivy
    );
}

fn bytes_of_terms(analyzer: &mut TextAnalyzer, text: &str) -> usize {
    let mut bytes = 0;
    analyzer
        .token_stream(text)
        .process(&mut |token| bytes += token.text.len());
    bytes
}

fn seconds(run: impl FnOnce() -> usize) -> f64 {
    let started = Instant::now();
    std::hint::black_box(run());
    started.elapsed().as_secs_f64()
}
