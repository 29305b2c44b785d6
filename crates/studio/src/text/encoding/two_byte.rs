use super::Encoding;

/// An encoding with two bytes for most characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TwoByte {
    Gbk,
    ShiftJis,
    Big5,
    EucKr,
}

/// The frequency of a character in texts of an encoding.
enum Character {
    /// A common character.
    Common,
    /// A rare character.
    Rare,
    None,
}

impl TwoByte {
    pub const ALL: [Self; 4] = [Self::Gbk, Self::ShiftJis, Self::Big5, Self::EucKr];

    /// Returns the encoding with its label.
    pub fn encoding(self) -> Encoding {
        match self {
            // GB18030 contains GBK.
            Self::Gbk => Encoding::new("gb18030", "GBK"),
            Self::ShiftJis => Encoding::new("shift_jis", "Shift-JIS"),
            Self::Big5 => Encoding::new("big5", "Big5"),
            Self::EucKr => Encoding::new("euc-kr", "EUC-KR"),
        }
    }

    /// Whether the bytes are valid in this encoding, and nine of ten characters are common.
    pub fn is_plausible(self, bytes: &[u8]) -> bool {
        let (mut common, mut rare, mut has_low_trail) = (0usize, 0usize, false);
        let mut rest = bytes;
        while let [lead, after @ ..] = rest {
            if lead.is_ascii() {
                rest = after;
                continue;
            }
            let trail = after.first().copied().unwrap_or_default();
            let (sign, length) = self.character(*lead, trail);
            match sign {
                Character::Common => common += 1,
                Character::Rare => rare += 1,
                Character::None => return false,
            }
            has_low_trail |= length == 2 && trail.is_ascii();
            rest = &rest[length..];
        }
        // Two fifths of the characters in Big5 end with an ASCII byte, but none in GB 2312.
        common >= 9 * rare && common > 0 && (self != Self::Big5 || has_low_trail)
    }

    /// Returns the frequency of the first character, and its number of bytes.
    fn character(self, lead: u8, trail: u8) -> (Character, usize) {
        let is_high = (0xa1..=0xfe).contains(&trail);
        let is_low = (0x40..=0x7e).contains(&trail);
        let sign = match self {
            // Rows of GB 2312: punctuation and full-width forms, then the 3,755 most frequent characters.
            Self::Gbk => match lead {
                0xa1 | 0xa3 | 0xb0..=0xd7 if is_high => Character::Common,
                0x81..=0xfe if (0x40..=0xfe).contains(&trail) && trail != 0x7f => Character::Rare,
                _ => Character::None,
            },
            // Half-width kana have one byte.
            Self::ShiftJis if (0xa1..=0xdf).contains(&lead) => return (Character::Rare, 1),
            Self::ShiftJis => match lead {
                // Punctuation, kana, and level 1 kanji.
                0x81..=0x83 | 0x88..=0x97 if is_low || (0x80..=0xfc).contains(&trail) => {
                    Character::Common
                }
                0x84..=0x9f | 0xe0..=0xfc if is_low || (0x80..=0xfc).contains(&trail) => {
                    Character::Rare
                }
                _ => Character::None,
            },
            Self::Big5 => match lead {
                0xa1 | 0xa4..=0xc6 if is_low || is_high => Character::Common,
                0x81..=0xfe if is_low || is_high => Character::Rare,
                _ => Character::None,
            },
            // Syllables of KS X 1001.
            Self::EucKr => match lead {
                0xa1 | 0xb0..=0xc8 if is_high => Character::Common,
                0xa1..=0xfe if is_high => Character::Rare,
                _ => Character::None,
            },
        };
        (sign, 2)
    }
}
