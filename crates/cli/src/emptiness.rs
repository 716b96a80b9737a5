//! What a person is told when the index holds no session at all.

use crate::context::Context;
use crate::freshness::Currency;
use lookback_engine::SOURCES;

/// Where was looked and what to try; or that nothing was looked at yet.
pub(crate) fn explain(currency: &Currency, context: &mut Context) {
    let looked = currency.pass.as_ref().is_some_and(|pass| pass.complete);
    if !looked {
        context
            .printer
            .note("nothing is indexed yet; `lookback index` reads your sessions");
        return;
    }
    context
        .printer
        .note("no sessions of any coding agent were found; these folders were looked at:");
    for source in SOURCES {
        for root in source.roots(&context.environment) {
            let state = if root.is_dir() {
                "holds no sessions"
            } else {
                "is not there"
            };
            context
                .printer
                .note(format!("  {} ({}) {state}", root.display(), source.agent()));
        }
    }
    context
        .printer
        .note("`lookback demo` shows a search on sample sessions");
}
