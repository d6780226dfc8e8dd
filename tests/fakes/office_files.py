"""Small PDF, Office and OpenDocument files, made without a library, so that each byte is known."""

import io
import zipfile
from collections.abc import Mapping

XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPES = f"{XML}<Types xmlns='{PACKAGE}/content-types'><Default Extension='rels' ContentType='application/vnd.openxmlformats-package.relationships+xml'/><Default Extension='xml' ContentType='application/xml'/>{{}}</Types>"  # noqa: E501

CID_FONT = (
    "<</Type/Font/Subtype/CIDFontType0/BaseFont/HeiseiKakuGo-W5"
    "/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>/FontDescriptor 5 0 R/DW 1000>>"
)
FONT_DESCRIPTOR = (
    "<</Type/FontDescriptor/FontName/HeiseiKakuGo-W5/Flags 4/FontBBox[-92 -250 1010 922]/ItalicAngle 0"
    "/Ascent 752/Descent -221/CapHeight 709/StemV 114>>"
)


def docx(*paragraphs: str, prolog: str = "") -> bytes:
    """`prolog` goes before the root of the main part."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    return archive(
        {
            "[Content_Types].xml": TYPES.format(_override("/word/document.xml", main)),
            "_rels/.rels": _relations(("officeDocument", "word/document.xml")),
            "word/document.xml": f"{XML}{prolog}<w:document xmlns:w='{word}'><w:body>{body}</w:body></w:document>",
        }
    )


def xlsx(rows: list[list[str]], sheet: str = "売上") -> bytes:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    cells = "".join(
        f"<row r='{r}'>"
        + "".join(f"<c r='{chr(64 + c)}{r}' t='inlineStr'><is><t>{text}</t></is></c>" for c, text in enumerate(row, 1))
        + "</row>"
        for r, row in enumerate(rows, 1)
    )
    return archive(
        {
            "[Content_Types].xml": TYPES.format(
                _override("/xl/workbook.xml", f"{kind}.sheet.main+xml")
                + _override("/xl/worksheets/sheet1.xml", f"{kind}.worksheet+xml")
            ),
            "_rels/.rels": _relations(("officeDocument", "xl/workbook.xml")),
            "xl/_rels/workbook.xml.rels": _relations(("worksheet", "worksheets/sheet1.xml")),
            "xl/workbook.xml": f"{XML}<workbook xmlns='{main}' xmlns:r='{OFFICE}'><sheets>"
            f"<sheet name='{sheet}' sheetId='1' r:id='rId1'/></sheets></workbook>",
            "xl/worksheets/sheet1.xml": f"{XML}<worksheet xmlns='{main}'><sheetData>{cells}</sheetData></worksheet>",
        }
    )


def pptx(*slides: str) -> bytes:
    main, draw = (f"http://schemas.openxmlformats.org/{part}/2006/main" for part in ("presentationml", "drawingml"))
    kind = "application/vnd.openxmlformats-officedocument.presentationml"
    names = [f"slides/slide{number}.xml" for number in range(1, len(slides) + 1)]
    listed = "".join(f"<p:sldId id='{255 + n}' r:id='rId{n}'/>" for n in range(1, len(slides) + 1))
    files = {
        "[Content_Types].xml": TYPES.format(
            _override("/ppt/presentation.xml", f"{kind}.presentation.main+xml")
            + "".join(_override(f"/ppt/{name}", f"{kind}.slide+xml") for name in names)
        ),
        "_rels/.rels": _relations(("officeDocument", "ppt/presentation.xml")),
        "ppt/_rels/presentation.xml.rels": _relations(*(("slide", name) for name in names)),
        "ppt/presentation.xml": f"{XML}<p:presentation xmlns:p='{main}' xmlns:r='{OFFICE}'>"
        f"<p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
    }
    for name, text in zip(names, slides, strict=True):
        shape = f"<p:sp><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
        files[f"ppt/{name}"] = (
            f"{XML}<p:sld xmlns:p='{main}' xmlns:a='{draw}'><p:cSld><p:spTree>{shape}</p:spTree></p:cSld></p:sld>"
        )
    return archive(files)


def odt(*paragraphs: str) -> bytes:
    office, text = (f"urn:oasis:names:tc:opendocument:xmlns:{part}:1.0" for part in ("office", "text"))
    body = "".join(f"<text:p>{paragraph}</text:p>" for paragraph in paragraphs)
    return archive(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"{XML}<office:document-content xmlns:office='{office}' xmlns:text='{text}'>"
            f"<office:body><office:text>{body}</office:text></office:body></office:document-content>",
        }
    )


def pdf(*pages: str, encrypted: bool = False) -> bytes:
    """The lines of each page, from top to bottom, Japanese too. An `encrypted` one needs a password nobody has."""
    count = len(pages)
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {count}/Kids[{' '.join(f'{6 + 2 * n} 0 R' for n in range(count))}]>>",
        "<</Type/Font/Subtype/Type0/BaseFont/HeiseiKakuGo-W5/Encoding/UniJIS-UCS2-H/DescendantFonts[4 0 R]>>",
        CID_FONT,
        FONT_DESCRIPTOR,
    ]
    for number, text in enumerate(pages):
        page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>"
        lines = " 0 -30 Td ".join(f"<{line.encode('utf-16-be').hex()}> Tj" for line in text.split("\n"))
        drawn = f"BT /F1 14 Tf 50 800 Td {lines} ET"
        objects += [f"{page}/Contents {7 + 2 * number} 0 R>>", f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream"]
    trailer = "/Root 1 0 R"
    if encrypted:
        objects.append(f"<</Filter/Standard/V 1/R 2/P -44/O<{'ab' * 32}>/U<{'cd' * 32}>>>")
        trailer += f"/Encrypt {len(objects)} 0 R/ID[<{'01' * 16}><{'01' * 16}>]"
    return _pdf_file(objects, trailer)


def _pdf_file(objects: list[str], trailer: str) -> bytes:
    out, offsets = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    return out + f"{head}trailer\n<</Size {len(objects) + 1}{trailer}>>\nstartxref\n{len(out)}\n%%EOF\n".encode()


def archive(files: Mapping[str, str | bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return target.getvalue()


def _override(part: str, kind: str) -> str:
    return f"<Override PartName='{part}' ContentType='{kind}'/>"


def _relations(*targets: tuple[str, str]) -> str:
    entries = "".join(
        f"<Relationship Id='rId{number}' Type='{OFFICE}/{kind}' Target='{target}'/>"
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f"{XML}<Relationships xmlns='{PACKAGE}/relationships'>{entries}</Relationships>"
