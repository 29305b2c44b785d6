use super::Encoding;

/// An encoding that writes most signs of its script in two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TwoByte {
    Gbk,
    ShiftJis,
    Big5,
    EucKr,
}

/// What the bytes at one place are in an encoding.
enum Sign {
    /// A sign that texts are mostly made of.
    Common,
    /// Another one.
    Rare,
    None,
}

impl TwoByte {
    pub const ALL: [Self; 4] = [Self::Gbk, Self::ShiftJis, Self::Big5, Self::EucKr];

    pub fn encoding(self) -> Encoding {
        match self {
            // GB18030 contains GBK.
            Self::Gbk => Encoding::new("gb18030", "GBK"),
            Self::ShiftJis => Encoding::new("shift_jis", "Shift-JIS"),
            Self::Big5 => Encoding::new("big5", "Big5"),
            Self::EucKr => Encoding::new("euc-kr", "EUC-KR"),
        }
    }

    /// Whether the bytes are a text in this encoding: all of them are signs, and nine of ten are common ones.
    pub fn is_plausible(self, bytes: &[u8]) -> bool {
        let (mut common, mut rare, mut has_low_trail) = (0usize, 0usize, false);
        let mut rest = bytes;
        while let [lead, after @ ..] = rest {
            if lead.is_ascii() {
                rest = after;
                continue;
            }
            let trail = after.first().copied().unwrap_or_default();
            let (sign, length) = self.sign(*lead, trail);
            match sign {
                Sign::Common => common += 1,
                Sign::Rare => rare += 1,
                Sign::None => return false,
            }
            has_low_trail |= length == 2 && trail.is_ascii();
            rest = &rest[length..];
        }
        // Two in five signs of a text in Big5 end with an ASCII byte, and none of a text in the smaller GB 2312.
        common >= 9 * rare && common > 0 && (self != Self::Big5 || has_low_trail)
    }

    /// The first sign, and how many bytes it has.
    fn sign(self, lead: u8, trail: u8) -> (Sign, usize) {
        let is_high = (0xa1..=0xfe).contains(&trail);
        let is_low = (0x40..=0x7e).contains(&trail);
        let sign = match self {
            // Rows of GB 2312: punctuation and full width, then the 3,755 most frequent signs.
            Self::Gbk => match lead {
                0xa1 | 0xa3 | 0xb0..=0xd7 if is_high => Sign::Common,
                0x81..=0xfe if (0x40..=0xfe).contains(&trail) && trail != 0x7f => Sign::Rare,
                _ => Sign::None,
            },
            // Half-width kana have one byte.
            Self::ShiftJis if (0xa1..=0xdf).contains(&lead) => return (Sign::Rare, 1),
            Self::ShiftJis => match lead {
                // Punctuation, kana, and the kanji of the first level.
                0x81..=0x83 | 0x88..=0x97 if is_low || (0x80..=0xfc).contains(&trail) => {
                    Sign::Common
                }
                0x84..=0x9f | 0xe0..=0xfc if is_low || (0x80..=0xfc).contains(&trail) => Sign::Rare,
                _ => Sign::None,
            },
            Self::Big5 => match lead {
                0xa1 | 0xa4..=0xc6 if is_low || is_high => Sign::Common,
                0x81..=0xfe if is_low || is_high => Sign::Rare,
                _ => Sign::None,
            },
            // Syllables of KS X 1001.
            Self::EucKr => match lead {
                0xa1 | 0xb0..=0xc8 if is_high => Sign::Common,
                0xa1..=0xfe if is_high => Sign::Rare,
                _ => Sign::None,
            },
        };
        (sign, 2)
    }
}
