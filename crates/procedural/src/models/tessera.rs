//! Tessera: backlit stained glass.

use atelier_contract::{Parameter, Schema};
use serde_json::{Map, Value, json};

use crate::draw::canvas::Canvas;
use crate::draw::color::{Lab, Rgb};
use crate::draw::noise::Noise;
use crate::draw::palette::Palette;
use crate::draw::prompt::Reading;
use crate::draw::rng::Rng;
use crate::draw::smoothstep;
use crate::draw::vocabulary::{Feature, Sense};
use crate::pictures::{Picture, variations};
use crate::{About, Error, File, Input, Job, Model, schema};

pub struct Tessera;

const ABOUT: About<'static> = About {
    name: "Tessera",
    category: "image",
    subcategory: "tessera",
    description: "Stained glass: leaded panes in glowing colors, cut at random or around a rose window. Procedural, no AI.",
    details: &[
        "A procedural glazier: it scatters points, cuts the picture into the panes nearest to each, colors them from a palette and lights them from behind. There is no AI in it.",
        "Colors and moods named in the prompt choose the glass; words such as rosette, mandala or cathedral, and a rose window, arrange it around a center.",
    ],
};

impl Model for Tessera {
    fn about(&self) -> About<'_> {
        ABOUT
    }

    fn schema(&self) -> Schema {
        schema::schema(
            ABOUT,
            vec![schema::prompt(
                self,
                "Colors and a mood for the glass, such as: a cathedral in blue and gold.",
            )],
            vec![
                schema::aspect_ratio("3:4"),
                Parameter::integer("panes", 220, 12, 1500, "How many panes of glass."),
                Parameter::choice(
                    "layout",
                    &["auto", "scattered", "rose"],
                    "auto",
                    "Panes scattered evenly, or in rings around a center. With auto the prompt decides.",
                ),
                Parameter::float(
                    "glow",
                    0.6,
                    0.0,
                    1.0,
                    "How strong the light behind the glass is.",
                ),
                Parameter::boolean("lead", true, "Dark lead lines between the panes."),
                schema::num_outputs(),
                schema::seed(),
            ],
        )
    }

    fn sample(&self) -> Value {
        json!({"prompt": "rose window in sapphire, ruby and gold", "seed": 4, "panes": 180})
    }

    fn extension(&self) -> &'static str {
        "png"
    }

    fn seconds(&self, input: &Map<String, Value>) -> f64 {
        1.5 + Input(input).integer("num_outputs") as f64
    }

    fn understands(&self, sense: &Sense) -> bool {
        matches!(
            sense,
            Sense::Colour(..)
                | Sense::Hue(_)
                | Sense::Vivid(_)
                | Sense::Light(_)
                | Sense::Feature(Feature::Mirrored)
        )
    }

    fn run(&self, job: &Job<'_>) -> Result<Vec<File>, Error> {
        variations(job, paint)
    }

    fn poster(&self, job: &Job<'_>) -> Result<Canvas, Error> {
        Ok(paint(job, &mut job.rng(0)).canvas)
    }
}

/// A pane: its position and its glass.
struct Pane {
    x: f32,
    y: f32,
    glass: Rgb,
    /// The tilt of its surface, for the shading.
    tilt: (f32, f32),
}

fn paint(job: &Job<'_>, rng: &mut Rng) -> Picture {
    let (input, reading) = (job.input, &job.reading);
    let (width, height) = job.size(1024);
    let (w, h) = (width as f32, height as f32);
    let unit = w.min(h);
    let rose = match input.text("layout") {
        "rose" => true,
        "scattered" => false,
        _ => reading.has(Feature::Mirrored),
    };
    let count = input.integer("panes").max(1) as usize;
    let points = if rose {
        rings(count, w, h, rng)
    } else {
        scatter(count, w, h, rng)
    };
    let noise = Noise::new(rng);
    let panes = glaze(points, reading, (w, h), &noise, rng);
    let grid = Grid::new(&panes, w, h);
    let lead = if input.flag("lead") {
        unit * 0.0042
    } else {
        0.0
    };
    let glow = input.number("glow");
    let light = (w * rng.range(0.4, 0.6), h * rng.range(0.3, 0.55));
    let mut canvas = Canvas::paint(width, height, |x, y| {
        // Hand-cut glass has no straight edges.
        let bend = unit * 0.006;
        let bx = x + noise.at(x / unit * 9.0, y / unit * 9.0) * bend;
        let by = y + noise.at(x / unit * 9.0 + 50.0, y / unit * 9.0) * bend;
        let (pane, edge) = grid.nearest(&panes, bx, by);
        let (dx, dy) = (bx - pane.x, by - pane.y);
        let streak = noise.fbm(
            (x * pane.tilt.0 + y * pane.tilt.1) / unit * 22.0 + pane.x,
            (y * pane.tilt.0 - x * pane.tilt.1) / unit * 5.0,
            3,
        );
        let lean = (dx * pane.tilt.0 + dy * pane.tilt.1) / unit * 1.6;
        let from_light = ((x - light.0).hypot(y - light.1) / unit).powi(2);
        let behind = 0.52 + 0.25 * (1.0 - glow) + glow * 1.05 * (-from_light * 2.6).exp();
        // Panes are brighter inside and darker towards the lead.
        let cushion = 0.72 + 0.28 * smoothstep(0.0, unit * 0.03, edge);
        let mut color = pane
            .glass
            .scale(behind * cushion * (1.0 + 0.2 * streak + lean));
        if lead > 0.0 {
            let coverage = 1.0 - smoothstep(lead - 0.8, lead + 0.8, edge);
            let sheen = 0.007 + 0.02 * smoothstep(lead, 0.0, edge);
            color = color.mix(
                Rgb {
                    r: sheen,
                    g: sheen,
                    b: sheen * 1.15,
                },
                coverage,
            );
        } else {
            color = color.mix(Rgb::BLACK, 0.12 * (1.0 - smoothstep(0.0, 1.4, edge)));
        }
        color
    });
    let radius = (unit * 0.02) as usize;
    canvas.bloom(0.28, radius, 0.15 + 0.5 * glow);
    Picture { canvas, grain: 1.4 }
}

/// The position of a pane.
struct Point {
    x: f32,
    y: f32,
    /// The group in a rose window: panes of the same group have the same glass.
    kin: Option<u32>,
}

/// Returns evenly scattered points: each is the candidate farthest from the others.
fn scatter(count: usize, w: f32, h: f32, rng: &mut Rng) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::with_capacity(count);
    for _ in 0..count {
        let mut best = ((0.0, 0.0), -1.0);
        for _ in 0..8 {
            let p = (rng.unit() * w, rng.unit() * h);
            let distance = points
                .iter()
                .map(|q| (p.0 - q.x).powi(2) + (p.1 - q.y).powi(2))
                .fold(f32::MAX, f32::min);
            if distance > best.1 {
                best = (p, distance);
            }
        }
        let (x, y) = best.0;
        points.push(Point { x, y, kin: None });
    }
    points
}

/// Returns points in rings; every other ring is rotated.
fn rings(count: usize, w: f32, h: f32, rng: &mut Rng) -> Vec<Point> {
    let (cx, cy) = (w / 2.0, h / 2.0);
    let reach = w.hypot(h) / 2.0;
    // The number of panes in a ring is proportional to its circumference, so that all have about the same size.
    let gap = (reach * reach * std::f32::consts::PI / count as f32).sqrt();
    let petals = [6, 8, 10, 12][rng.below(4)] as f32;
    let mut points = vec![Point {
        x: cx,
        y: cy,
        kin: Some(0),
    }];
    let mut ring = 1u32;
    while (ring as f32 - 0.3) * gap < reach {
        let radius = ring as f32 * gap * (1.0 + 0.06 * rng.normal());
        let panes = ((std::f32::consts::TAU * radius / gap) / petals)
            .round()
            .max(1.0)
            * petals;
        let turn = if ring.is_multiple_of(2) { 0.5 } else { 0.0 };
        for i in 0..panes as usize {
            let angle =
                (i as f32 + turn) / panes * std::f32::consts::TAU - std::f32::consts::FRAC_PI_2;
            // Panes are mirrored within a petal.
            let in_petal = (panes / petals) as usize;
            let place = (i % in_petal).min(in_petal - i % in_petal) as u32;
            points.push(Point {
                x: cx + angle.cos() * radius,
                y: cy + angle.sin() * radius,
                kin: Some(ring * 8 + place),
            });
        }
        ring += 1;
    }
    points
}

fn glaze(
    points: Vec<Point>,
    reading: &Reading,
    (w, h): (f32, f32),
    noise: &Noise,
    rng: &mut Rng,
) -> Vec<Pane> {
    let unit = w.min(h);
    let glasses = glasses(reading, rng);
    // The sort key for colors: the group in a rose window, otherwise smooth noise.
    let salt = rng.bits();
    let places: Vec<f32> = points
        .iter()
        .map(|point| match point.kin {
            Some(kin) => Rng::new(salt, u64::from(kin)).unit(),
            None => noise.fbm(point.x / unit * 1.7, point.y / unit * 1.7, 2) + 0.22 * rng.normal(),
        })
        .collect();
    // Each glass gets the same number of panes.
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
    let mut glass_of = vec![0; points.len()];
    for (rank, pane) in order.into_iter().enumerate() {
        glass_of[pane] = rank * glasses.len() / points.len();
    }
    for i in 1..points.len() {
        // Reunites groups that were split between two glasses.
        if let Some(kin) = points[i].kin
            && let Some(first) = points[..i].iter().position(|other| other.kin == Some(kin))
        {
            glass_of[i] = glass_of[first];
        }
    }
    points
        .into_iter()
        .zip(glass_of)
        .map(|(Point { x, y, kin }, glass)| {
            let glass = glasses[glass];
            let unevenness = if kin.is_some() { 0.025 } else { 0.05 };
            let l = glass.l + unevenness * rng.normal() + 0.12 * reading.light;
            let angle = rng.range(0.0, std::f32::consts::TAU);
            Pane {
                x,
                y,
                glass: glass.with_lightness(l.clamp(0.18, 0.94)).rgb(),
                tilt: (angle.cos(), angle.sin()),
            }
        })
        .collect()
}

/// Returns the glass colors, each for the same number of panes: the named colors, each with a lighter variant;
/// otherwise the palette's.
fn glasses(reading: &Reading, rng: &mut Rng) -> Vec<Lab> {
    if reading.named.is_empty() {
        let palette = Palette::of(reading, rng);
        let [_, a, b, c, _] = palette.colors.map(|color| color.saturate(1.45));
        return vec![a, b, c, palette.accent.with_lightness(0.78)];
    }
    let vivid = 1.0 + 0.3 * reading.vivid;
    reading
        .colours()
        .into_iter()
        .flat_map(|color| {
            let deep = color.saturate(1.08 * vivid);
            let lighter = color.l + 0.35 * (0.95 - color.l);
            [
                deep,
                deep,
                color.with_lightness(lighter).saturate(0.8 * vivid),
            ]
        })
        .collect()
}

/// A spatial index for nearest-neighbor searches.
struct Grid {
    side: f32,
    columns: usize,
    rows: usize,
    /// By cell: the panes of the surrounding cells, extended until there is at least one.
    near: Vec<Vec<usize>>,
}

impl Grid {
    fn new(panes: &[Pane], w: f32, h: f32) -> Self {
        let side = (w * h / panes.len().max(1) as f32).sqrt().max(8.0);
        let columns = (w / side).ceil() as usize + 1;
        let rows = (h / side).ceil() as usize + 1;
        let mut grid = Self {
            side,
            columns,
            rows,
            near: Vec::new(),
        };
        let mut cells = vec![Vec::new(); columns * rows];
        for (i, pane) in panes.iter().enumerate() {
            let (column, row) = grid.cell(pane.x, pane.y);
            cells[row * columns + column].push(i);
        }
        let squares = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
        grid.near = squares
            .map(|(column, row)| grid.around(&cells, column, row))
            .collect();
        grid
    }

    fn cell(&self, x: f32, y: f32) -> (usize, usize) {
        let at = |v: f32, count: usize| ((v / self.side).max(0.0) as usize).min(count - 1);
        (at(x, self.columns), at(y, self.rows))
    }

    /// Returns the pane nearest to a point, and the distance to the edge of the next pane.
    fn nearest<'a>(&self, panes: &'a [Pane], x: f32, y: f32) -> (&'a Pane, f32) {
        let (column, row) = self.cell(x, y);
        let near = &self.near[row * self.columns + column];
        let (mut first, mut least) = (near[0], f32::INFINITY);
        for &i in near {
            let (dx, dy) = (panes[i].x - x, panes[i].y - y);
            let distance = dx * dx + dy * dy;
            if distance < least {
                (first, least) = (i, distance);
            }
        }
        let nearest = &panes[first];
        let mut edge = f32::MAX;
        for &i in near {
            if i == first {
                continue;
            }
            let other = &panes[i];
            let (ex, ey) = (other.x - nearest.x, other.y - nearest.y);
            let (mx, my) = (other.x + nearest.x - 2.0 * x, other.y + nearest.y - 2.0 * y);
            edge = edge.min((mx * ex + my * ey) / (2.0 * ex.hypot(ey).max(1e-3)));
        }
        (nearest, edge)
    }

    /// Returns the panes of the cells around one, in a growing area until there are any.
    fn around(&self, cells: &[Vec<usize>], column: usize, row: usize) -> Vec<usize> {
        let mut reach = 2;
        loop {
            let mut near = Vec::new();
            for r in row.saturating_sub(reach)..=(row + reach).min(self.rows - 1) {
                for c in column.saturating_sub(reach)..=(column + reach).min(self.columns - 1) {
                    near.extend_from_slice(&cells[r * self.columns + c]);
                }
            }
            if !near.is_empty() {
                return near;
            }
            reach += 2;
        }
    }
}
