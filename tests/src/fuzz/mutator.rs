//! Inputs made of those of a corpus, the same ones each time.

/// Longest input that is made, in bytes; most are no longer than an eighth of it.
const LONGEST: usize = 64 << 10;

/// Number of inputs of which one may be as long.
const LONG_ONE_OF: usize = 16;

/// Parts of inputs, in all languages that are read.
const TOKENS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"{}",
    b"[]",
    b",",
    b":",
    b"\"",
    b"\\\"",
    b"\\",
    b"\\n",
    b"\\u0000",
    b"\\ud800",
    b"\\udc00",
    b"\\u0061",
    b"null",
    b"true",
    b"false",
    b"-1",
    b"1.10",
    b"1e999",
    b"18446744073709551616",
    b"0",
    b"\n",
    b"\r",
    b"\r\n",
    b" ",
    b"\t",
    b"\0",
    b"\x1b[2J",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\xe2\x80\xa8",
    b"\xc3\xa9",
    b"\xf0\x9f\x99\x82",
    b"\"jsonrpc\":\"2.0\"",
    b"\"id\":7",
    b"\"id\":null",
    b"\"method\":\"ping\"",
    b"\"method\":\"tools/call\"",
    b"\"params\":{}",
    b"\"result\":{}",
    b"\"error\":{\"code\":1,\"message\":\"\"}",
    b"\"name\"",
    b"\"type\"",
    b"\"object\"",
    b"\"content\":[]",
    b"\"structuredContent\":7",
    b"\"inputSchema\":{}",
    b"\"outputSchema\":{}",
    b"\"properties\":{}",
    b"\"required\":[]",
    b"\"annotations\":{}",
    b"\"icons\":[]",
    b"\"_meta\":{}",
    b"\"$ref\":\"#\"",
    b"\"$defs\":{}",
    b"\"$id\":\"a\"",
    b"\"pattern\":\"(a+)+$\"",
    b"\"anyOf\":[{}]",
    b"\"prefixItems\":[{}]",
    b"\"unevaluatedProperties\":false",
    b"data:",
    b"event:",
    b"id:",
    b"retry:",
    b"#",
    b"//",
    b"/*",
    b"*/",
    b"'",
    b"\"\"\"",
    b"'''",
    b"=",
    b".",
    b"[[",
    b"]]",
    b"- ",
    b"? ",
    b"&a ",
    b"*a",
    b"<<: ",
    b"|\n",
    b">-\n",
    b"---\n",
    b"!!str ",
    b"%YAML 1.2\n",
    b"export ",
    b"$",
    b"${",
    b"${env:",
    b"${input:",
    b"${{ secrets.",
    b"{env:",
    b"{file:",
    b"{{.env.",
    b":-",
    b"}}",
    b"@",
    b"/",
    b"://",
    b"http://",
    b"https://",
    b"javascript:",
    b"localhost",
    b"127.0.0.1",
    b"[::1]",
    b"0x7f.1",
    b"evil.example",
    b":80",
    b"[server `",
    b"dormouse",
    b"servers.",
    b"component",
    b"command",
];

/// Maker of inputs.
pub(super) struct Mutator<'c> {
    corpus: &'c [Vec<u8>],
    /// State of the random numbers; never zero.
    state: u64,
}

impl<'c> Mutator<'c> {
    /// Makes inputs for the target of that name.
    pub(super) fn new(name: &str, corpus: &'c [Vec<u8>]) -> Self {
        // FNV-1a, so that no two targets get the same changes.
        let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325, |seed: u64, byte| {
            (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self {
            corpus,
            state: seed | 1,
        }
    }

    /// Makes the next input: one of the corpus, changed in one or more ways.
    pub(super) fn next(&mut self) -> Vec<u8> {
        let mut input = self.seed().to_vec();
        let longest = match self.below(LONG_ONE_OF) {
            0 => LONGEST,
            _ => LONGEST / 8,
        };
        for _ in 0..1 << self.below(5) {
            self.change(&mut input);
            input.truncate(longest);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let range = self.range(input.len());
        match self.below(10) {
            0 => {
                if let Some(byte) = input.get_mut(range.start) {
                    *byte ^= 1 << self.below(8);
                }
            }
            1 => {
                if let Some(byte) = input.get_mut(range.start) {
                    *byte = self.random() as u8;
                }
            }
            2 => drop(input.drain(range)),
            3 => input.truncate(range.start),
            4 => {
                let part = input[range.clone()].to_vec();
                self.insert(input, &part);
            }
            5 => {
                let times = 1 << self.below(8);
                let part = input[range.clone()].repeat(times);
                let part = &part[..part.len().min(LONGEST)];
                input.splice(range.start..range.start, part.iter().copied());
            }
            6 => {
                let other = self.seed();
                let part = self.range(other.len());
                input.splice(range, other[part].iter().copied());
            }
            7 => {
                let token = TOKENS[self.below(TOKENS.len())];
                input.splice(range, token.iter().copied());
            }
            _ => {
                let token = TOKENS[self.below(TOKENS.len())];
                self.insert(input, token);
            }
        }
    }

    fn insert(&mut self, input: &mut Vec<u8>, part: &[u8]) {
        let at = self.below(input.len() + 1);
        input.splice(at..at, part.iter().copied());
    }

    fn seed(&mut self) -> &'c [u8] {
        &self.corpus[self.below(self.corpus.len())]
    }

    /// Returns a part of so many bytes: a short one more often than a long one.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let longest = 1 << self.below(10);
        let end = start + self.below(longest + 1);
        start..end.min(length)
    }

    fn below(&mut self, limit: usize) -> usize {
        let random = self.random() >> 11;
        (random % limit.max(1) as u64) as usize
    }

    /// Returns the next random number: xorshift, multiplied (Vigna).
    fn random(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}
