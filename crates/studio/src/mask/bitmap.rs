//! The pixels of a mask, one bit each. There is no antialiasing, so that a mask has no gray pixels.

/// A position in pixels; `(0.0, 0.0)` is the upper left corner of the picture.
pub type Point = (f64, f64);

/// An area of pixels, without its right and lower edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    pub left: u32,
    pub top: u32,
    pub right: u32,
    pub bottom: u32,
}

impl Area {
    /// Returns the smallest area that contains both.
    pub fn union(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

/// A mask of the size of its picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bitmap {
    width: u32,
    height: u32,
    /// Rows of whole bytes; the highest bit of a byte is its leftmost pixel. Unused bits are 0.
    bits: Vec<u8>,
}

impl Bitmap {
    /// Creates an empty mask.
    pub fn new(width: u32, height: u32) -> Self {
        let bytes = width.div_ceil(8) as usize * height as usize;
        Self {
            width,
            height,
            bits: vec![0; bytes],
        }
    }

    pub fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// Returns the area of the whole mask.
    pub fn area(&self) -> Area {
        Area {
            left: 0,
            top: 0,
            right: self.width,
            bottom: self.height,
        }
    }

    fn stride(&self) -> usize {
        self.width.div_ceil(8) as usize
    }

    /// Returns a row, eight pixels per byte; empty outside the mask.
    pub fn row(&self, y: u32) -> &[u8] {
        let stride = self.stride();
        let start = y as usize * stride;
        self.bits.get(start..start + stride).unwrap_or_default()
    }

    /// Whether a pixel is painted.
    pub fn is_set(&self, x: u32, y: u32) -> bool {
        let byte = self.row(y).get((x / 8) as usize).filter(|_| x < self.width);
        byte.is_some_and(|byte| byte & (0x80 >> (x % 8)) != 0)
    }

    /// Whether no pixel is painted.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|byte| *byte == 0)
    }

    /// Returns the number of painted pixels.
    pub fn count(&self) -> u64 {
        let ones = self.bits.iter().map(|byte| u64::from(byte.count_ones()));
        ones.sum()
    }

    /// Swaps painted and unpainted pixels.
    pub fn invert(&mut self) {
        self.bits.iter_mut().for_each(|byte| *byte = !*byte);
        let unused = self.width.div_ceil(8) * 8 - self.width;
        let stride = self.stride();
        if unused > 0 {
            let last_bytes = self.bits.iter_mut().skip(stride - 1).step_by(stride);
            last_bytes.for_each(|byte| *byte &= 0xff << unused);
        }
    }

    /// Paints or erases all pixels whose center is within `radius` of the line from `from` to `to`, and the pixel at `to`.
    /// Returns the area that may have changed; `None` if it is outside the mask.
    pub fn line(&mut self, from: Point, to: Point, radius: f64, is_painted: bool) -> Option<Area> {
        let numbers = [from.0, from.1, to.0, to.1, radius];
        if !numbers.iter().all(|number| number.is_finite()) {
            return None;
        }
        let radius = radius.max(0.5);
        let top = (from.1.min(to.1) - radius).floor().max(0.0);
        let bottom = (from.1.max(to.1) + radius).ceil();
        let rows = top as u32..(bottom as u32).min(self.height);
        let mut changed: Option<Area> = None;
        let mut fill = |this: &mut Self, y: u32, start: f64, end: f64| {
            // The pixels whose centers are in the interval.
            let start = (start - 0.5).ceil().clamp(0.0, f64::from(this.width)) as u32;
            let end = ((end - 0.5).floor() + 1.0).clamp(0.0, f64::from(this.width)) as u32;
            if start < end {
                this.fill(y, start, end, is_painted);
                let area = Area {
                    left: start,
                    top: y,
                    right: end,
                    bottom: y + 1,
                };
                changed = Some(changed.map_or(area, |before| before.union(area)));
            }
        };
        for y in rows {
            if let Some((start, end)) = capsule_row(from, to, radius, f64::from(y) + 0.5) {
                fill(self, y, start, end);
            }
        }
        let is_inside = to.0 >= 0.0 && (0.0..f64::from(self.height)).contains(&to.1);
        if is_inside {
            let center = to.0.floor() + 0.5;
            fill(self, to.1 as u32, center, center);
        }
        changed
    }

    /// Paints or erases a rectangle between two corners. Every pixel that it touches is changed. Returns its area; `None`
    /// if it is outside the mask.
    pub fn rectangle(&mut self, from: Point, to: Point, is_painted: bool) -> Option<Area> {
        let edges = |a: f64, b: f64, limit: u32| {
            let limit = f64::from(limit);
            let start = a.min(b).floor().clamp(0.0, limit) as u32;
            let end = a.max(b).ceil().clamp(0.0, limit) as u32;
            (start, end)
        };
        let (left, right) = edges(from.0, to.0, self.width);
        let (top, bottom) = edges(from.1, to.1, self.height);
        if left >= right || top >= bottom {
            return None;
        }
        (top..bottom).for_each(|y| self.fill(y, left, right, is_painted));
        Some(Area {
            left,
            top,
            right,
            bottom,
        })
    }

    /// Paints or erases the pixels of a row from `start` to before `end`, which must be within the mask.
    fn fill(&mut self, y: u32, start: u32, end: u32, is_painted: bool) {
        let row = y as usize * self.stride();
        let (first, last) = ((start / 8) as usize, ((end - 1) / 8) as usize);
        let first_bits = 0xff_u8 >> (start % 8);
        let last_bits = 0xff_u8 << (7 - (end - 1) % 8);
        let mut set = |at: usize, bits: u8| {
            let byte = &mut self.bits[row + at];
            match is_painted {
                true => *byte |= bits,
                false => *byte &= !bits,
            }
        };
        if first == last {
            return set(first, first_bits & last_bits);
        }
        set(first, first_bits);
        set(last, last_bits);
        let between = &mut self.bits[row + first + 1..row + last];
        between.fill(if is_painted { 0xff } else { 0 });
    }

    /// Returns the whole bytes of an area, row by row.
    pub fn bytes(&self, area: Area) -> Vec<u8> {
        let columns = columns(area);
        let rows = area.top..area.bottom.min(self.height);
        let mut bytes = Vec::with_capacity(columns.len() * rows.len());
        rows.for_each(|y| bytes.extend_from_slice(&self.row(y)[columns.clone()]));
        bytes
    }

    /// Exchanges the whole bytes of an area with those of [`Self::bytes`].
    pub fn swap(&mut self, area: Area, bytes: &mut [u8]) {
        let (columns, stride) = (columns(area), self.stride());
        let rows = (area.top..area.bottom.min(self.height)).zip(bytes.chunks_mut(columns.len()));
        for (y, others) in rows {
            let row = y as usize * stride;
            self.bits[row + columns.start..row + columns.end].swap_with_slice(others);
        }
    }
}

/// Returns the columns of bytes that contain an area.
fn columns(area: Area) -> std::ops::Range<usize> {
    (area.left / 8) as usize..area.right.div_ceil(8) as usize
}

/// Returns the interval of x in which a horizontal line is within `radius` of the line from `from` to `to`. That area is
/// convex: two discs and a rectangle between them.
fn capsule_row(from: Point, to: Point, radius: f64, y: f64) -> Option<(f64, f64)> {
    let mut found: Option<(f64, f64)> = None;
    let mut add = |x: f64| {
        let (start, end) = found.unwrap_or((x, x));
        found = Some((start.min(x), end.max(x)));
    };
    for (x, center) in [from, to] {
        let half = radius * radius - (y - center) * (y - center);
        if half >= 0.0 {
            add(x - half.sqrt());
            add(x + half.sqrt());
        }
    }
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length > 0.0 {
        let (across, down) = (-dy / length * radius, dx / length * radius);
        let corners = [
            (from.0 + across, from.1 + down),
            (to.0 + across, to.1 + down),
            (to.0 - across, to.1 - down),
            (from.0 - across, from.1 - down),
        ];
        for at in 0..4 {
            let ((x0, y0), (x1, y1)) = (corners[at], corners[(at + 1) % 4]);
            if y0 != y1 && (y0.min(y1)..=y0.max(y1)).contains(&y) {
                add(x0 + (x1 - x0) * (y - y0) / (y1 - y0));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the distance of a point from the line between two points.
    fn distance(at: Point, from: Point, to: Point) -> f64 {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx * dx + dy * dy;
        let along = (at.0 - from.0) * dx + (at.1 - from.1) * dy;
        let part = if length > 0.0 {
            (along / length).clamp(0.0, 1.0)
        } else {
            0.0
        };
        (at.0 - from.0 - part * dx).hypot(at.1 - from.1 - part * dy)
    }

    fn text(bitmap: &Bitmap) -> String {
        let (width, height) = bitmap.size();
        let row = |y| (0..width).map(move |x| if bitmap.is_set(x, y) { '#' } else { '.' });
        let rows: Vec<String> = (0..height).map(|y| row(y).collect()).collect();
        rows.join("\n")
    }

    #[test]
    fn a_click_with_a_small_brush_paints_one_pixel() {
        let mut bitmap = Bitmap::new(3, 3);
        let area = bitmap.line((1.2, 1.9), (1.2, 1.9), 0.1, true);
        assert_eq!(text(&bitmap), "...\n.#.\n...");
        assert_eq!(
            area,
            Some(Area {
                left: 1,
                top: 1,
                right: 2,
                bottom: 2
            })
        );
    }

    #[test]
    fn rectangles_cover_every_pixel_that_they_touch() {
        let mut bitmap = Bitmap::new(20, 3);
        bitmap.rectangle((17.5, 0.2), (2.5, 1.5), true);
        let row = "..################..";
        assert_eq!(text(&bitmap), format!("{row}\n{row}\n{}", ".".repeat(20)));
        bitmap.rectangle((-5.0, -5.0), (90.0, 1.0), false);
        assert_eq!(bitmap.count(), 16);
        assert_eq!(bitmap.rectangle((-9.0, 0.0), (-1.0, 9.0), true), None);
    }

    #[test]
    fn inverting_keeps_the_unused_bits_empty() {
        let mut bitmap = Bitmap::new(11, 2);
        bitmap.invert();
        assert_eq!(bitmap.count(), 22);
        bitmap.invert();
        assert!(bitmap.is_empty());
    }

    #[test]
    fn positions_that_are_not_numbers_change_nothing() {
        let mut bitmap = Bitmap::new(5, 5);
        assert_eq!(bitmap.line((f64::NAN, 0.0), (1.0, 1.0), 3.0, true), None);
        assert_eq!(
            bitmap.line((0.0, 0.0), (1.0, f64::INFINITY), 3.0, true),
            None
        );
        assert!(bitmap.is_empty());
    }

    proptest! {
        #[test]
        fn a_line_paints_the_pixels_within_its_radius(
            from in (-20.0..60.0, -20.0..60.0),
            to in (-20.0..60.0, -20.0..60.0),
            radius in 0.5..15.0,
        ) {
            let mut bitmap = Bitmap::new(37, 29);
            let area = bitmap.line(from, to, radius, true);
            for (x, y) in (0..37).flat_map(|x| (0..29).map(move |y| (x, y))) {
                let center = (f64::from(x) + 0.5, f64::from(y) + 0.5);
                let distance = distance(center, from, to);
                let is_end = (to.0.floor(), to.1.floor()) == (f64::from(x), f64::from(y));
                let is_set = bitmap.is_set(x, y);
                if (distance - radius).abs() > 1e-6 {
                    prop_assert_eq!(is_set, distance < radius || is_end, "{} {}", x, y);
                }
                let is_in_area = area.is_some_and(|area| {
                    (area.left..area.right).contains(&x) && (area.top..area.bottom).contains(&y)
                });
                prop_assert!(!is_set || is_in_area);
            }
        }

        #[test]
        fn swapping_an_area_twice_changes_nothing(
            from in (0.0..37.0, 0.0..29.0),
            to in (0.0..37.0, 0.0..29.0),
        ) {
            let mut bitmap = Bitmap::new(37, 29);
            let before = bitmap.clone();
            if let Some(area) = bitmap.line(from, to, 3.0, true) {
                let after = bitmap.clone();
                let mut bytes = before.bytes(area);
                bitmap.swap(area, &mut bytes);
                prop_assert_eq!(&bitmap, &before);
                bitmap.swap(area, &mut bytes);
                prop_assert_eq!(&bitmap, &after);
            }
        }
    }
}
