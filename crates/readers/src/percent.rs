//! Percent-encoded text, as in addresses and in names of folders that stand for paths.

/// The text that was encoded; what is no encoding stands as it is.
pub(crate) fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes
            .get(at + 1..at + 3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let encoded = digits
            .filter(|_| byte == b'%')
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(encoded.unwrap_or(byte));
        at += if encoded.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// The path that a `file:` address names, of any system; `None` for other addresses.
pub(crate) fn path_of_address(address: &str) -> Option<String> {
    let path = decode(address.strip_prefix("file://")?);
    let is_drive = path.as_bytes().get(2).is_some_and(|&byte| byte == b':');
    match path.strip_prefix('/') {
        Some(below) if is_drive => Some(below.to_owned()),
        _ => Some(path),
    }
}

#[cfg(test)]
mod tests {
    //! Property: what was encoded comes back, and nothing else changes.
    use super::*;

    #[test]
    fn paths_come_back() {
        assert_eq!(decode("%2Fsrv%2Fbaker%20y%C3%A9"), "/srv/baker yé");
        assert_eq!(decode("100% %zz %2"), "100% %zz %2");
        for (address, path) in [
            ("file:///srv/baker%20y", Some("/srv/baker y")),
            ("file:///C:/bakery", Some("C:/bakery")),
            ("file:///c%3A/bakery", Some("c:/bakery")),
            ("https://example.com/x", None),
        ] {
            assert_eq!(path_of_address(address).as_deref(), path, "{address}");
        }
    }
}
