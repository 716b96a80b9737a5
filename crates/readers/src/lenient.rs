//! Values of one wanted type, empty when they are of another, so that a strange field never costs its record.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Text; nothing when the value is not a string.
#[derive(Debug, Default)]
pub(crate) struct Words<'a>(pub(crate) Option<Cow<'a, str>>);

impl Words<'_> {
    /// The text, empty when there is none.
    pub(crate) fn get(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

/// An object; nothing when the value is not one.
#[derive(Debug)]
pub(crate) struct Object<T>(pub(crate) Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// The objects of an array; nothing when the value is not an array.
#[derive(Debug)]
pub(crate) struct List<T>(pub(crate) Option<Vec<T>>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> List<T> {
    /// The objects, none when there is no array.
    pub(crate) fn get(&self) -> &[T] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// `true`; false for any other value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flag(pub(crate) bool);

/// A whole number; nothing when the value is not one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Number(pub(crate) Option<u64>);

/// The length of a string that is not kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Length(pub(crate) u64);

/// Visits values of which one kind is wanted: all others give `Default::default()`.
macro_rules! otherwise_default {
    ($($except:ident)*) => {
        otherwise_default!(@bool $($except)*);
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn visit_unit<E>(self) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        otherwise_default!(@str $($except)*);
        otherwise_default!(@seq $($except)*);
        otherwise_default!(@map $($except)*);
    };
    (@bool bool $($rest:ident)*) => {};
    (@bool $other:ident $($rest:ident)*) => { otherwise_default!(@bool $($rest)*); };
    (@bool) => { fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> { Ok(Self::Value::default()) } };
    (@str str $($rest:ident)*) => {};
    (@str $other:ident $($rest:ident)*) => { otherwise_default!(@str $($rest)*); };
    (@str) => { fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> { Ok(Self::Value::default()) } };
    (@seq seq $($rest:ident)*) => {};
    (@seq $other:ident $($rest:ident)*) => { otherwise_default!(@seq $($rest)*); };
    (@seq) => {
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (@map map $($rest:ident)*) => {};
    (@map $other:ident $($rest:ident)*) => { otherwise_default!(@map $($rest)*); };
    (@map) => {
        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}
pub(crate) use otherwise_default;

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wanted<'a>(PhantomData<&'a str>);
        impl<'de: 'a, 'a> Visitor<'de> for Wanted<'a> {
            type Value = Words<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Words<'a>, E> {
                Ok(Words(Some(Cow::Borrowed(text))))
            }
            fn visit_str<E>(self, text: &str) -> Result<Words<'a>, E> {
                Ok(Words(Some(Cow::Owned(text.to_owned()))))
            }
            otherwise_default!(str);
        }
        deserializer.deserialize_any(Wanted(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wanted<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Wanted<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|object| Object(Some(object)))
            }
            otherwise_default!(map);
        }
        deserializer.deserialize_any(Wanted(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wanted<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Wanted<T> {
            type Value = List<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
                let mut objects = Vec::new();
                while let Some(Object(object)) = seq.next_element::<Object<T>>()? {
                    objects.extend(object);
                }
                Ok(List(Some(objects)))
            }
            otherwise_default!(seq);
        }
        deserializer.deserialize_any(Wanted(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wanted;
        impl<'de> Visitor<'de> for Wanted {
            type Value = Flag;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true or false")
            }
            fn visit_bool<E>(self, value: bool) -> Result<Flag, E> {
                Ok(Flag(value))
            }
            otherwise_default!(bool);
        }
        deserializer.deserialize_any(Wanted)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wanted;
        impl<'de> Visitor<'de> for Wanted {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number")
            }
            fn visit_bool<E>(self, _: bool) -> Result<Number, E> {
                Ok(Number(None))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
                Ok(Number(u64::try_from(number).ok()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
                Ok(Number(Some(number)))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
                let is_whole = (0.0..9e15).contains(&number);
                Ok(Number(is_whole.then_some(number as u64)))
            }
            fn visit_unit<E>(self) -> Result<Number, E> {
                Ok(Number(None))
            }
            otherwise_default!(@str);
            otherwise_default!(@seq);
            otherwise_default!(@map);
        }
        deserializer.deserialize_any(Wanted)
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wanted;
        impl<'de> Visitor<'de> for Wanted {
            type Value = Length;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_str<E>(self, text: &str) -> Result<Length, E> {
                Ok(Length(text.len() as u64))
            }
            otherwise_default!(str);
        }
        deserializer.deserialize_any(Wanted)
    }
}

/// A string's text, nothing for null, and any other JSON as it was written.
pub(crate) fn readable(raw: &RawValue) -> Result<Cow<'_, str>, serde_json::Error> {
    match raw.get() {
        "null" => Ok(Cow::Borrowed("")),
        string if string.starts_with('"') => {
            serde_json::from_str::<Words<'_>>(string).map(|words| words.0.unwrap_or_default())
        }
        other => Ok(Cow::Borrowed(other)),
    }
}
