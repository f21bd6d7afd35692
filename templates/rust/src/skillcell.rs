//! What a skill in Rust needs besides `std`: JSON in and out, and the door to Skillcell.
//! Each call runs in a fresh instance, so nothing that crosses the door is ever freed.

use std::alloc::{alloc, handle_alloc_error, realloc, Layout};

/// The door: `execute: func(params: string) -> result<string, string>`, as `skillcell build` expects it.
#[macro_export]
macro_rules! skill {
    ($execute:path) => {
        #[export_name = "execute"]
        pub unsafe extern "C" fn skillcell_execute(params: *mut u8, length: usize) -> *const [usize; 3] {
            let params = String::from_utf8_unchecked(Vec::from_raw_parts(params, length, length));
            skillcell::leak($execute(&params))
        }
    };
}

/// Where the host puts the parameters.
#[export_name = "cabi_realloc"]
pub unsafe extern "C" fn cabi_realloc(old: *mut u8, old_size: usize, align: usize, size: usize) -> *mut u8 {
    if size == 0 {
        return align as *mut u8;
    }
    let layout = Layout::from_size_align_unchecked(size, align);
    let fresh = match old_size {
        0 => alloc(layout),
        _ => realloc(old, Layout::from_size_align_unchecked(old_size, align), size),
    };
    if fresh.is_null() {
        handle_alloc_error(layout);
    }
    fresh
}

/// A result as the host reads it: which of the two, where, how long.
pub fn leak(result: Result<String, String>) -> *const [usize; 3] {
    let (which, text) = match result {
        Ok(text) => (0, text),
        Err(text) => (1, text),
    };
    let bytes: &'static [u8] = Box::leak(text.into_bytes().into_boxed_slice());
    Box::leak(Box::new([which, bytes.as_ptr() as usize, bytes.len()]))
}

/// A string as JSON, in quotes and with escapes.
#[allow(dead_code)]
pub fn quoted(value: &str) -> String {
    let mut json = String::from("\"");
    for character in value.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            '\0'..='\x1f' => json.push_str(&format!("\\u{:04x}", character as u32)),
            _ => json.push(character),
        }
    }
    json + "\""
}

/// A member of an object that is a string. Valid JSON only, which is all that Skillcell hands over.
#[allow(dead_code)]
pub fn string(object: &str, name: &str) -> Option<String> {
    let raw = member(object, name)?.strip_prefix('"')?.strip_suffix('"')?;
    let mut value = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        value.push_str(&rest[..at]);
        let (character, length) = unescape(&rest[at + 1..])?;
        value.push(character);
        rest = &rest[at + 1 + length..];
    }
    Some(value + rest)
}

/// A member of an object that is a whole number.
#[allow(dead_code)]
pub fn integer(object: &str, name: &str) -> Option<i64> {
    member(object, name)?.parse().ok()
}

/// The value of a member as it stands in the JSON.
fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = object.trim_start().strip_prefix('{')?;
    loop {
        let (key, after_key) = rest.split_at(end_of_value(rest));
        let after_colon = after_key.strip_prefix(':')?;
        let (value, after_value) = after_colon.split_at(end_of_value(after_colon));
        if key.trim().strip_prefix('"').and_then(|key| key.strip_suffix('"')) == Some(name) {
            return Some(value.trim());
        }
        rest = after_value.strip_prefix(',')?;
    }
}

/// Commas and brackets inside of strings and of inner values are skipped with them.
fn end_of_value(json: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (at, byte) in json.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b',' | b':' | b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    json.len()
}

/// The character of an escape without its backslash, and how long the escape is. Half of a pair alone becomes U+FFFD.
fn unescape(escape: &str) -> Option<(char, usize)> {
    let plain = match escape.as_bytes().first()? {
        b'b' => '\x08',
        b'f' => '\x0c',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unescape_units(escape),
        other => *other as char,
    };
    Some((plain, 1))
}

fn unescape_units(escape: &str) -> Option<(char, usize)> {
    let unit = |at: usize| u16::from_str_radix(escape.get(at..at + 4)?, 16).ok();
    let high = unit(1)?;
    let low = escape.get(5..7).filter(|next| *next == "\\u").and_then(|_| unit(7));
    let units: Vec<u16> = [Some(high), low].iter().flatten().copied().collect();
    match char::decode_utf16(units).next()? {
        Ok(character) => Some((character, if character.len_utf16() == 2 { 11 } else { 5 })),
        Err(_) => Some((char::REPLACEMENT_CHARACTER, 5)),
    }
}
