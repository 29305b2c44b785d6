//! XMP packets: RDF in XML, with own properties in a description of their own.

use std::ops::Range;

use quick_xml::XmlVersion;
use quick_xml::escape::{partial_escape, resolve_predefined_entity};
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{QName, ResolveResult};
use quick_xml::reader::NsReader;

use crate::bytes::Edits;
use crate::collector::Collector;
use crate::{ATELIER, DigitalSourceType, Entries, PARAMETERS, WriteError};

/// The size of the largest packet that is read.
pub const MAX_BYTES: usize = 1 << 20;
/// Resolving a name takes time in proportion to the namespaces in scope.
const MAX_DEPTH: usize = 32;
const MAX_NAMESPACES_PER_ELEMENT: usize = 64;

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const IPTC: &str = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/";
const OWN: &str = "urn:x-atelier:recipe/1.0/";

/// The prefixes under which properties are known; files may use others.
const PREFIXES: [(&str, &str); 9] = [
    (IPTC, "Iptc4xmpExt"),
    ("http://purl.org/dc/elements/1.1/", "dc"),
    ("http://purl.org/dc/terms/", "dcterms"),
    ("http://ns.adobe.com/xap/1.0/", "xmp"),
    ("http://ns.adobe.com/xap/1.0/rights/", "xmpRights"),
    ("http://ns.adobe.com/exif/1.0/", "exif"),
    ("http://ns.adobe.com/tiff/1.0/", "tiff"),
    ("http://ns.adobe.com/photoshop/1.0/", "photoshop"),
    ("http://ns.adobe.com/xap/1.0/mm/", "xmpMM"),
];

/// The name of the property with the digital source type, and of the address of Content Credentials elsewhere.
const SOURCE_TYPE: &str = "xmp:Iptc4xmpExt:DigitalSourceType";
const PROVENANCE: &str = "xmp:dcterms:provenance";

/// An own property: its qualified name and its value.
pub type Property<'a> = (&'static str, &'a str);

/// Returns the property with the digital source type, if there is one.
pub fn source_type(entries: &Entries) -> Vec<Property<'_>> {
    let uri = entries.digital_source_type.map(DigitalSourceType::uri);
    uri.map(|uri| ("Iptc4xmpExt:DigitalSourceType", uri))
        .into_iter()
        .collect()
}

/// Returns the properties without the line of parameters.
pub fn recipe(entries: &Entries) -> Vec<Property<'_>> {
    let mut properties = vec![("atelier:recipe", &*entries.atelier)];
    properties.extend(source_type(entries));
    properties
}

/// Returns all properties.
pub fn all(entries: &Entries) -> Vec<Property<'_>> {
    let mut properties = vec![("atelier:parameters", &*entries.parameters)];
    properties.extend(recipe(entries));
    properties
}

/// Adds the properties of a packet to the metadata. Reads those before an error.
pub fn read(packet: &str, collector: &mut Collector) {
    if !collector.spend(packet.len()) || packet.len() > MAX_BYTES {
        collector.set_incomplete();
        return;
    }
    let mut scan = Scan::default();
    scan.run(packet);
    for Found { name, text, .. } in scan.found {
        match &*name {
            SOURCE_TYPE => collector.set_source_type(&text),
            PROVENANCE => collector.set_content_credentials(),
            _ => {}
        }
        collector.add(&name, text);
    }
}

/// Returns a packet with these properties in place of earlier own ones, or `None` if it would be empty.
///
/// # Errors
///
/// [`WriteError::Malformed`] if the old packet can't be read completely, [`WriteError::ContentCredentials`] if it refers
/// to some.
pub fn update(
    old: Option<&str>,
    properties: &[Property<'_>],
) -> Result<Option<String>, WriteError> {
    let Some(old) = old.map(|old| old.trim_end_matches('\0')) else {
        return Ok((!properties.is_empty()).then(|| packet(properties)));
    };
    let mut scan = Scan::default();
    let is_complete = old.len() <= MAX_BYTES && scan.run(old);
    let (true, Some(end)) = (is_complete, scan.end) else {
        return Err(WriteError::Malformed("its XMP can't be read"));
    };
    // Checked here as well, because reading a whole file stops at its bounds.
    if scan.found.iter().any(|found| found.name == PROVENANCE) {
        return Err(WriteError::ContentCredentials);
    }
    let is_own = |description: &&Description| description.is_own;
    let has_source_type = scan
        .found
        .iter()
        .any(|found| found.name == SOURCE_TYPE && !scan.descriptions[found.description].is_own);
    let properties: Vec<Property<'_>> = properties
        .iter()
        .filter(|(name, _)| !(has_source_type && name.ends_with(":DigitalSourceType")))
        .copied()
        .collect();
    if properties.is_empty()
        && scan
            .descriptions
            .iter()
            .all(|description| description.is_own)
    {
        return Ok(None);
    }
    let mut edits = Edits::default();
    if !properties.is_empty() {
        let own = scan.descriptions.iter().find(is_own);
        let at = own.map_or(end, |description| description.range.start);
        let foreign = scan
            .descriptions
            .iter()
            .find(|description| !description.is_own);
        let about = foreign.map_or("", |description| &*description.about);
        edits.insert(at, description(about, &properties).into_bytes());
    }
    for own in scan.descriptions.iter().filter(is_own) {
        edits.remove(own.range.clone());
    }
    // Another program may have moved own properties into its description.
    for found in &scan.found {
        let is_in_own = scan.descriptions[found.description].is_own;
        if let (true, false, Some(range)) = (found.is_own(), is_in_own, &found.range) {
            edits.remove(range.clone());
        }
    }
    let new = String::from_utf8(edits.apply(old.as_bytes()));
    new.map(Some)
        .map_err(|_| WriteError::Malformed("its XMP can't be read"))
}

/// Replaces characters that XML can't represent.
pub fn replace_forbidden(text: &str) -> String {
    let replace = |c| match c {
        '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' => c,
        '\u{10000}'.. => c,
        _ => '\u{FFFD}',
    };
    text.chars().map(replace).collect()
}

fn packet(properties: &[Property<'_>]) -> String {
    format!(
        "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\
         <x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"{RDF}\">{}</rdf:RDF></x:xmpmeta>\
         <?xpacket end=\"w\"?>",
        description("", properties)
    )
}

/// Returns the element with own properties. `about` is already escaped.
fn description(about: &str, properties: &[Property<'_>]) -> String {
    let mut xml = format!(
        "<rdf:Description xmlns:rdf=\"{RDF}\" rdf:about=\"{about}\" xmlns:atelier=\"{OWN}\" xmlns:Iptc4xmpExt=\"{IPTC}\">"
    );
    for (name, value) in properties {
        // Parsers turn an unescaped carriage return into a line feed.
        let value = partial_escape(*value).replace('\r', "&#13;");
        xml += &format!("<{name}>{value}</{name}>");
    }
    xml + "</rdf:Description>"
}

/// A description at the top level of a packet.
struct Description {
    range: Range<usize>,
    /// What it is about, as written in the packet.
    about: String,
    /// Whether it declares the own namespace and has only own properties.
    is_own: bool,
}

/// A property at the top level of a packet.
struct Found {
    name: String,
    text: String,
    /// The index of its description.
    description: usize,
    /// The range of its element; `None` if it is an attribute.
    range: Option<Range<usize>>,
}

impl Found {
    fn is_own(&self) -> bool {
        self.name == PARAMETERS || self.name == ATELIER
    }
}

/// The property whose element is open.
struct Open {
    name: String,
    start: usize,
    /// Texts between tags.
    pieces: Vec<String>,
}

/// What a packet contains.
#[derive(Default)]
struct Scan {
    descriptions: Vec<Description>,
    found: Vec<Found>,
    /// Where the element `rdf:RDF` ends.
    end: Option<usize>,
    open: Option<Open>,
}

impl Scan {
    /// Reads a packet. Returns `false` if it ends with an error.
    fn run(&mut self, packet: &str) -> bool {
        let mut reader = NsReader::from_str(packet);
        let limit = MAX_NAMESPACES_PER_ELEMENT;
        reader
            .resolver_mut()
            .set_max_declarations_per_element(limit);
        reader.config_mut().expand_empty_elements = true;
        let mut depth = 0;
        // The depth of the children of `rdf:RDF`.
        let mut top = None;
        loop {
            let start = reader.buffer_position() as usize;
            let Ok(event) = reader.read_event() else {
                return false;
            };
            let position = reader.buffer_position() as usize;
            match event {
                Event::Start(tag) => {
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return false;
                    }
                    let inside = top.map_or(0, |top| depth + 1 - top);
                    match inside {
                        0 if self.end.is_none() && is_rdf(&reader, tag.name(), b"RDF") => {
                            top = Some(depth + 1);
                        }
                        1 if is_rdf(&reader, tag.name(), b"Description") => {
                            self.start_description(&reader, &tag, start);
                        }
                        2 if self.is_in_description() => {
                            self.open = Some(Open {
                                name: name(&reader, tag.name(), false),
                                start,
                                pieces: vec![resource(&reader, &tag).unwrap_or_default()],
                            });
                        }
                        _ => self.start_piece(),
                    }
                }
                Event::End(_) => {
                    let Some(inside) = top.map(|top| depth + 1 - top) else {
                        depth -= 1;
                        continue;
                    };
                    match inside {
                        0 => {
                            top = None;
                            // Nothing can be inserted into an empty element.
                            self.end = packet[start..].starts_with("</").then_some(start);
                        }
                        1 => self.end_description(position),
                        2 => self.end_property(position),
                        _ => self.start_piece(),
                    }
                    depth -= 1;
                }
                Event::Text(text) => self.push(&text.xml10_content().unwrap_or_default()),
                Event::CData(text) => self.push(&text.xml10_content().unwrap_or_default()),
                Event::GeneralRef(reference) => {
                    let character = reference.resolve_char_ref().ok().flatten();
                    let name = reference.decode().unwrap_or_default();
                    match (character, resolve_predefined_entity(&name)) {
                        (Some(character), _) => self.push(character.encode_utf8(&mut [0; 4])),
                        (None, Some(text)) => self.push(text),
                        // Entities that the packet declares itself are not expanded.
                        (None, None) => return false,
                    }
                }
                Event::Eof => return depth == 0,
                _ => {}
            }
        }
    }

    fn is_in_description(&self) -> bool {
        let last = self.descriptions.last();
        last.is_some_and(|description| description.range.is_empty())
    }

    fn start_description(&mut self, reader: &NsReader<&[u8]>, tag: &BytesStart<'_>, start: usize) {
        let index = self.descriptions.len();
        let mut description = Description {
            range: start..start,
            about: String::new(),
            is_own: false,
        };
        for attribute in tag.attributes().with_checks(false).flatten() {
            let key = attribute.key;
            if key.as_namespace_binding().is_some() {
                description.is_own |= &*attribute.value == OWN.as_bytes();
            } else if is_rdf_attribute(reader, key, b"about") {
                let about = String::from_utf8_lossy(&attribute.value);
                description.about = about.replace('"', "&quot;");
            } else if !is_rdf_attribute(reader, key, key.local_name().as_ref())
                && let Ok(value) = attribute.normalized_value(XmlVersion::Implicit1_0)
            {
                self.found.push(Found {
                    name: name(reader, key, true),
                    text: value.into_owned(),
                    description: index,
                    range: None,
                });
            }
        }
        self.descriptions.push(description);
    }

    fn end_description(&mut self, position: usize) {
        let index = self.descriptions.len().saturating_sub(1);
        if !self.is_in_description() {
            return;
        }
        let mut found = self.found.iter().rev();
        let is_only_own = found
            .by_ref()
            .take_while(|found| found.description == index)
            .all(|found| found.is_own() || found.name == SOURCE_TYPE);
        if let Some(description) = self.descriptions.last_mut() {
            description.range.end = position;
            description.is_own &= is_only_own;
        }
    }

    fn start_piece(&mut self) {
        if let Some(open) = &mut self.open {
            open.pieces.push(String::new());
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(open) = &mut self.open
            && let Some(piece) = open.pieces.last_mut()
        {
            piece.push_str(text);
        }
    }

    fn end_property(&mut self, position: usize) {
        let Some(Open {
            name,
            start,
            mut pieces,
        }) = self.open.take()
        else {
            return;
        };
        let text = if pieces.len() == 1 {
            pieces.swap_remove(0)
        } else {
            // A list or a structure, with white space between its elements.
            let pieces = pieces.iter().map(|piece| piece.trim());
            let pieces: Vec<&str> = pieces.filter(|piece| !piece.is_empty()).collect();
            pieces.join("\n")
        };
        self.found.push(Found {
            name,
            text,
            description: self.descriptions.len().saturating_sub(1),
            range: Some(start..position),
        });
    }
}

fn is_rdf(reader: &NsReader<&[u8]>, name: QName<'_>, local: &[u8]) -> bool {
    let (namespace, found) = reader.resolver().resolve_element(name);
    matches!(namespace, ResolveResult::Bound(namespace) if namespace.as_ref() == RDF.as_bytes())
        && found.as_ref() == local
}

fn is_rdf_attribute(reader: &NsReader<&[u8]>, name: QName<'_>, local: &[u8]) -> bool {
    let (namespace, found) = reader.resolver().resolve_attribute(name);
    matches!(namespace, ResolveResult::Bound(namespace) if namespace.as_ref() == RDF.as_bytes())
        && found.as_ref() == local
}

/// Returns the value of a property that is an address.
fn resource(reader: &NsReader<&[u8]>, tag: &BytesStart<'_>) -> Option<String> {
    let mut attributes = tag.attributes();
    let attribute = attributes
        .with_checks(false)
        .flatten()
        .find(|attribute| is_rdf_attribute(reader, attribute.key, b"resource"))?;
    let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
    Some(value.into_owned())
}

/// Returns the name under which a property is known.
fn name(reader: &NsReader<&[u8]>, name: QName<'_>, is_attribute: bool) -> String {
    let resolver = reader.resolver();
    let (namespace, local) = if is_attribute {
        resolver.resolve_attribute(name)
    } else {
        resolver.resolve_element(name)
    };
    let local = String::from_utf8_lossy(local.as_ref()).into_owned();
    let uri = match &namespace {
        ResolveResult::Bound(namespace) => namespace.as_ref(),
        _ => b"",
    };
    if uri == OWN.as_bytes() {
        return match &*local {
            "parameters" => PARAMETERS.to_owned(),
            "recipe" => ATELIER.to_owned(),
            _ => format!("xmp:atelier:{local}"),
        };
    }
    let known = PREFIXES.iter().find(|(known, _)| known.as_bytes() == uri);
    let prefix = known.map(|(_, prefix)| (*prefix).to_owned()).or_else(|| {
        let prefix = name.prefix()?;
        Some(String::from_utf8_lossy(prefix.as_ref()).into_owned())
    });
    match prefix {
        Some(prefix) => format!("xmp:{prefix}:{local}"),
        None => format!("xmp:{local}"),
    }
}
