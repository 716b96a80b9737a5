//! What a crate offers to others, as one page: every public item without its body, under the path by which
//! it is used. A change of the interface is a change of this page, so that a review sees it.
//!
//! The sources are read as they are: private modules are followed only where something of them is given on by
//! `pub use`. Items of other crates that are given on are named and not looked into.

use anyhow::{Context, Result};
use prettyplease::unparse;
use proc_macro2::Span;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Block, Fields, File, ImplItem, Item, ItemImpl, ItemMod, ItemUse, TraitItem, Type, UseTree,
    Visibility,
};

/// The page of a crate whose sources lie in `folder`, named `name` as code names it.
pub(super) fn page(folder: &Path, name: &str) -> Result<String> {
    let root = Module::read(&folder.join("src/lib.rs"), &folder.join("src"), true)?;
    let mut page = format!(
        "// The public interface of {name}: its items without their bodies.\n\
         // Written by `cargo xtask docs` from the sources. Change those, not this page.\n"
    );
    print(&root, &root, name, &mut page)?;
    Ok(page)
}

/// A module and what is in it.
struct Module {
    is_public: bool,
    items: Vec<Item>,
    modules: BTreeMap<String, Module>,
}

impl Module {
    /// Reads a module of its own file; its submodules lie in `folder`.
    fn read(file: &Path, folder: &Path, is_public: bool) -> Result<Self> {
        let text =
            std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let File { items, .. } =
            syn::parse_file(&text).with_context(|| format!("cannot parse {}", file.display()))?;
        Self::of(items, folder, is_public)
    }

    fn of(items: Vec<Item>, folder: &Path, is_public: bool) -> Result<Self> {
        let mut module = Self {
            is_public,
            items: Vec::new(),
            modules: BTreeMap::new(),
        };
        for item in items {
            match item {
                Item::Mod(inner) if is_for_tests(&inner.attrs) => {}
                Item::Mod(inner) => {
                    let name = inner.ident.to_string();
                    module.modules.insert(name, Self::inner(inner, folder)?);
                }
                other => module.items.push(other),
            }
        }
        Ok(module)
    }

    fn inner(inner: ItemMod, folder: &Path) -> Result<Self> {
        let name = inner.ident.to_string();
        let is_public = is_public(&inner.vis);
        let below = folder.join(&name);
        match inner.content {
            Some((_, items)) => Self::of(items, &below, is_public),
            None => {
                let beside = folder.join(format!("{name}.rs"));
                let file: PathBuf = if beside.is_file() {
                    beside
                } else {
                    below.join("mod.rs")
                };
                Self::read(&file, &below, is_public)
            }
        }
    }

    fn at(&self, path: &[String]) -> Option<&Self> {
        path.iter()
            .try_fold(self, |module, name| module.modules.get(name))
    }

    /// Implementations of a type of this name, here or in any module below.
    fn implementations<'a>(&'a self, name: &str, found: &mut Vec<&'a ItemImpl>) {
        for item in &self.items {
            if let Item::Impl(block) = item
                && type_name(&block.self_ty).is_some_and(|of| of == name)
                && !is_for_tests(&block.attrs)
            {
                found.push(block);
            }
        }
        self.modules
            .values()
            .for_each(|module| module.implementations(name, found));
    }
}

/// Adds a public module and those below it.
fn print(root: &Module, module: &Module, path: &str, page: &mut String) -> Result<()> {
    let mut items = Vec::new();
    for item in &module.items {
        match item {
            Item::Use(given) if is_public(&given.vis) => given_on(root, module, given, &mut items),
            _ => items.extend(offered(root, item)),
        }
    }
    if !items.is_empty() {
        items.sort_by_cached_key(sort_key);
        let file = File {
            shebang: None,
            frontmatter: None,
            attrs: Vec::new(),
            items: Vec::new(),
        };
        page.push_str(&format!("\n// {path}\n\n"));
        for item in items {
            let file = File {
                items: vec![item],
                ..file.clone()
            };
            page.push_str(&unparse(&file).replace(" {}\n", ";\n"));
        }
    }
    for (name, inner) in module.modules.iter().filter(|(_, inner)| inner.is_public) {
        print(root, inner, &format!("{path}::{name}"), page)?;
    }
    Ok(())
}

/// Types stand before what is implemented for them, and everything by name.
fn sort_key(item: &Item) -> (String, u8, String) {
    let (name, place) = match item {
        Item::Struct(item) => (item.ident.to_string(), 0),
        Item::Enum(item) => (item.ident.to_string(), 0),
        Item::Trait(item) => (item.ident.to_string(), 0),
        Item::Type(item) => (item.ident.to_string(), 0),
        Item::Const(item) => (item.ident.to_string(), 0),
        Item::Static(item) => (item.ident.to_string(), 0),
        Item::Fn(item) => (item.sig.ident.to_string(), 0),
        Item::Impl(item) => (type_name(&item.self_ty).unwrap_or_default(), 1),
        _ => (String::new(), 2),
    };
    let file = File {
        shebang: None,
        frontmatter: None,
        attrs: Vec::new(),
        items: vec![item.clone()],
    };
    (name, place, unparse(&file))
}

/// What `pub use` gives on: items of this crate as if they stood here, others by name.
fn given_on(root: &Module, here: &Module, given: &ItemUse, items: &mut Vec<Item>) {
    let mut paths = Vec::new();
    paths_of(&given.tree, &mut Vec::new(), &mut paths);
    for mut path in paths {
        let Some(name) = path.pop() else { continue };
        let first = path.first().map(String::as_str);
        let from = match first {
            Some("crate") => root.at(path.get(1..).unwrap_or_default()),
            Some("self") => here.at(path.get(1..).unwrap_or_default()),
            _ => here.at(&path),
        };
        let Some(from) = from.filter(|_| !path.is_empty()) else {
            items.push(Item::Use(given.clone()));
            continue;
        };
        for item in &from.items {
            if name == "*" || name_of(item).is_some_and(|of| of == name) {
                items.extend(offered(root, item));
            }
            // Given on once more.
            if let Item::Use(again) = item
                && is_public(&again.vis)
            {
                let mut inner = Vec::new();
                given_on(root, from, again, &mut inner);
                let is_it = |item: &Item| match item {
                    Item::Impl(block) => type_name(&block.self_ty).is_some_and(|of| of == name),
                    other => name_of(other).is_some_and(|of| of == name),
                };
                items.extend(inner.into_iter().filter(|item| name == "*" || is_it(item)));
            }
        }
    }
}

fn paths_of(tree: &UseTree, before: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    let mut with = |last: String| {
        let mut path = before.clone();
        path.push(last);
        paths.push(path);
    };
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            paths_of(&path.tree, before, paths);
            before.pop();
        }
        UseTree::Name(name) => with(name.ident.to_string()),
        UseTree::Rename(rename) => with(rename.ident.to_string()),
        UseTree::Glob(_) => with("*".to_owned()),
        UseTree::Group(group) => {
            for tree in &group.items {
                paths_of(tree, before, paths);
            }
        }
    }
}

/// What others may use of an item, with what is implemented for it.
fn offered(root: &Module, item: &Item) -> Vec<Item> {
    let Some(bare) = bare(item) else {
        return Vec::new();
    };
    let mut offered = vec![bare];
    if matches!(item, Item::Struct(_) | Item::Enum(_)) {
        let mut blocks = Vec::new();
        root.implementations(&name_of(item).unwrap_or_default(), &mut blocks);
        offered.extend(blocks.into_iter().filter_map(implemented).map(Item::Impl));
    }
    offered
}

/// A public item without its body, its documentation and what is private in it.
fn bare(item: &Item) -> Option<Item> {
    let mut item = item.clone();
    match &mut item {
        Item::Struct(inner) if is_public(&inner.vis) => {
            kept(&mut inner.attrs);
            public_fields(&mut inner.fields);
        }
        Item::Enum(inner) if is_public(&inner.vis) => {
            kept(&mut inner.attrs);
            for variant in &mut inner.variants {
                kept(&mut variant.attrs);
                variant.fields.iter_mut().for_each(|field| kept(&mut field.attrs));
            }
        }
        Item::Trait(inner) if is_public(&inner.vis) => {
            kept(&mut inner.attrs);
            for item in &mut inner.items {
                match item {
                    TraitItem::Fn(method) => {
                        kept(&mut method.attrs);
                        // Only whether there is a default is of interest.
                        method.default = method.default.as_ref().map(|_| empty());
                    }
                    TraitItem::Type(inner) => kept(&mut inner.attrs),
                    TraitItem::Const(inner) => kept(&mut inner.attrs),
                    _ => {}
                }
            }
        }
        Item::Fn(inner) if is_public(&inner.vis) => {
            kept(&mut inner.attrs);
            *inner.block = empty();
        }
        Item::Const(inner) if is_public(&inner.vis) => kept(&mut inner.attrs),
        Item::Static(inner) if is_public(&inner.vis) => kept(&mut inner.attrs),
        Item::Type(inner) if is_public(&inner.vis) => kept(&mut inner.attrs),
        _ => return None,
    }
    Some(item)
}

/// An implementation as others see it: the public methods of a type's own, or only the name of a trait.
fn implemented(block: &ItemImpl) -> Option<ItemImpl> {
    let mut block = block.clone();
    kept(&mut block.attrs);
    if block.trait_.is_some() {
        block.items.clear();
        return Some(block);
    }
    block.items.retain(|item| match item {
        ImplItem::Fn(method) => is_public(&method.vis),
        ImplItem::Const(inner) => is_public(&inner.vis),
        _ => false,
    });
    for item in &mut block.items {
        match item {
            ImplItem::Fn(method) => {
                kept(&mut method.attrs);
                method.block = empty();
            }
            ImplItem::Const(inner) => kept(&mut inner.attrs),
            _ => {}
        }
    }
    (!block.items.is_empty()).then_some(block)
}

fn public_fields(fields: &mut Fields) {
    match fields {
        Fields::Named(named) => {
            let all = std::mem::take(&mut named.named);
            let public = all.into_iter().filter(|field| is_public(&field.vis));
            named.named = public.collect::<Punctuated<_, _>>();
        }
        // The place of a field is part of how it is used, so that private ones stay.
        Fields::Unnamed(_) | Fields::Unit => {}
    }
    fields.iter_mut().for_each(|field| kept(&mut field.attrs));
}

/// Leaves what a user of an item must know of its attributes.
fn kept(attributes: &mut Vec<Attribute>) {
    const KEPT: [&str; 6] = [
        "derive",
        "must_use",
        "non_exhaustive",
        "deprecated",
        "serde",
        "cfg",
    ];
    attributes.retain(|attribute| KEPT.iter().any(|name| attribute.path().is_ident(name)));
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .meta
                .require_list()
                .is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn empty() -> Block {
    Block {
        brace_token: syn::token::Brace(Span::call_site()),
        stmts: Vec::new(),
    }
}

fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Struct(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Const(item) => &item.ident,
        Item::Static(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

fn type_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_of(files: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join("src").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        page(folder.path(), "made_up").unwrap()
    }

    /// Property: what others can name is listed under the path they name it by, and nothing else is.
    #[test]
    fn only_what_can_be_named_is_listed() {
        let page = page_of(&[
            (
                "lib.rs",
                "mod hidden; pub mod shown; pub use hidden::Given; pub use std::fmt::Debug; fn own() {}",
            ),
            (
                "hidden.rs",
                "/// Words.\npub struct Given { pub seen: u8, unseen: u8 }\n\
                 impl Given { pub fn new() -> Self { todo!() } fn inner(&self) {} }\n\
                 impl Clone for Given { fn clone(&self) -> Self { todo!() } }\n\
                 pub struct NotGiven;",
            ),
            (
                "shown.rs",
                "pub trait Port { fn must(&self); fn may(&self) { } }\n#[cfg(test)] mod tests { pub fn no() {} }",
            ),
        ]);
        for shown in [
            "// made_up\n",
            "pub struct Given {\n    pub seen: u8,\n}",
            "pub fn new() -> Self;",
            "impl Clone for Given;",
            "pub use std::fmt::Debug;",
            "// made_up::shown\n",
            "pub trait Port {",
        ] {
            assert!(page.contains(shown), "{shown} is not in\n{page}");
        }
        for not_shown in ["unseen", "inner", "NotGiven", "fn own", "Words", "no()", "hidden"] {
            assert!(!page.contains(not_shown), "{not_shown} is in\n{page}");
        }
    }

    /// Property: the page does not depend on the order in which items are written.
    #[test]
    fn the_order_in_the_sources_does_not_show() {
        let forth = page_of(&[("lib.rs", "pub fn a() {} pub const B: u8 = 1; pub enum C { D }")]);
        let back = page_of(&[("lib.rs", "pub enum C { D } pub const B: u8 = 1; pub fn a() {}")]);
        assert_eq!(forth, back);
    }
}
