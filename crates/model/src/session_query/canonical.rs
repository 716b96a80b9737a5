//! Canonical JSON: one spelling for each value, so that equal values have equal hashes.

use serde_json::Value;

/// Writes a value with the keys of every object sorted by their characters, arrays in order, and no spaces.
pub fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|&(key, _)| key);
            out.push(b'{');
            for (place, (key, value)) in fields.into_iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                write_scalar(&Value::String(key.clone()), out);
                out.push(b':');
                write(value, out);
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        scalar => write_scalar(scalar, out),
    }
}

fn write_scalar(value: &Value, out: &mut Vec<u8>) {
    out.extend_from_slice(value.to_string().as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn canonical(json: &str) -> String {
        let mut out = Vec::new();
        write(&serde_json::from_str(json).unwrap(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn keys_are_sorted_at_every_depth() {
        assert_eq!(
            canonical(r#"{ "b": [ {"d": 1, "c": null} , 2 ], "a": "x\ny" }"#),
            r#"{"a":"x\ny","b":[{"c":null,"d":1},2]}"#
        );
    }

    proptest! {
        /// Property: the spelling does not depend on the order of keys, and is JSON of the same value.
        #[test]
        fn the_order_of_keys_does_not_show(entries in prop::collection::btree_map("[a-z\"\\\\é]{0,4}", any::<i64>(), 0..8)) {
            let forth: serde_json::Map<_, _> = entries.iter().map(|(key, value)| (key.clone(), (*value).into())).collect();
            let back: serde_json::Map<_, _> = entries.iter().rev().map(|(key, value)| (key.clone(), (*value).into())).collect();
            let (mut first, mut second) = (Vec::new(), Vec::new());
            write(&Value::Object(forth.clone()), &mut first);
            write(&Value::Object(back), &mut second);
            prop_assert_eq!(&first, &second);
            prop_assert_eq!(serde_json::from_slice::<Value>(&first).unwrap(), Value::Object(forth));
        }
    }
}
