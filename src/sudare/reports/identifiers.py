"""HIPAA's eighteen identifiers, and the words in names of columns that hint at each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

IDENTIFIERS: Sequence[tuple[str, str]] = (
    (
        "Names",
        "name surname firstname lastname forename nickname initials vorname nachname prenom apellido 氏名 名前 姓名",
    ),
    (
        "Geographic subdivisions smaller than a state",
        "zip zipcode postal postcode plz city town village street address addr county district municipality commune "
        "precinct parish borough tract geocode region prefecture "
        "location latitude longitude lat lon adresse strasse ort wohnort ville direccion ciudad "
        "住所 郵便番号 市区町村 市町村",
    ),
    (
        "Dates (but years) directly related to an individual, and ages over 89",
        "date birth born dob birthday admission admitted discharge discharged death died day month age geburtsdatum "
        "geburtstag alter datum naissance edad 生年月日 誕生日 年齢 入院 退院 死亡 日付",
    ),
    ("Telephone numbers", "phone telephone tel mobile cellphone telefon handy telefono movil 電話 携帯"),
    ("Fax numbers", "fax ファックス"),
    ("E-mail addresses", "email mail mailaddress courriel correo メール"),
    (
        "Social security numbers",
        "ssn socialsecurity nino nir sozialversicherungsnummer svnr ahv bsn dni nss codicefiscale personnummer pesel "
        "cpf マイナンバー 個人番号",
    ),
    (
        "Medical record numbers",
        "mrn medrec medicalrecord chart recordnumber recordno recordnr recordid patientid patientno patientnr "
        "patientnbr patientnum patientnumber patientcode patid patno patnr ptid ptno subjid usubjid subjectid personid "
        "caseid caseno casenr casenumber hospitalno hospitalnumber hospno encounterid encounternumber visitid visitno "
        "episodeid stayid admissionid admissionno admissionnumber fallnummer fallnr fallid patientennummer patientennr "
        "patientenid aufnahmenummer aufnahmenr aktennummer krankenakte ipp dossier numdossier nodossier nhc "
        "historiaclinica expediente cartella prontuario dossiernummer patientnummer カルテ 診察券 患者番号 症例番号",
    ),
    (
        "Health plan beneficiary numbers",
        "beneficiary insurance insuranceid memberid memberno policyno nhs nhsnumber medicare versicherungsnummer "
        "versichertennummer versichertennr kvnr subscriberid polisnummer tesserasanitaria healthcard "
        "保険証 被保険者 保険者番号",
    ),
    ("Account numbers", "account acct iban bankaccount creditcard cardnumber konto kontonummer 口座 カード番号"),
    ("Certificate and license numbers", "license licence certificate permit fuehrerschein permis 免許"),
    (
        "Vehicle identifiers and serial numbers, license plates",
        "vehicle vin plate licenseplate numberplate kennzeichen ナンバープレート 車両番号",
    ),
    ("Device identifiers and serial numbers", "device deviceid serial serialnumber imei imsi 端末"),
    ("Web addresses (URLs)", "url website homepage link"),
    ("IP addresses", "ip ipaddress"),
    ("Biometric identifiers", "fingerprint biometric voice retina iris dna genome 指紋"),
    ("Full-face photographs and comparable images", "photo picture portrait image face 顔写真"),
    (
        "Any other unique identifying number, characteristic or code",
        "id uuid guid identifier key passport nationalid personalid studentid encounter ausweis "
        "識別子 番号 旅券 パスポート",
    ),
)
"""The eighteen identifiers of HIPAA's Safe Harbor, with words in names of columns that hint at each."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
STATES = frozenset(["state", "country", "nation", "land", "pays", "pais"])
SMALLER = "city zip zipcode postal postcode street county district municipality town village commune precinct"
PEOPLE = frozenset(["patient", "patients", "paciente", "paziente", "encounter", "case", "fall", "subject"])
"""Names that say whom a record is about, or which visit, if they stand alone and the values lead to people."""
BIRTH = "birth born dob birthday geburtsdatum geburtstag naissance 生年月日 誕生日"
AGES = "age ages aged alter altersgruppe edad eta leeftijd idade 年齢 年代"
"""Names of columns of ages."""
POSTAL = "zip zipcode postal postcode postalcode plz postleitzahl codepostal codigopostal 郵便番号"
"""Names of columns of postal codes."""
CALENDAR = f"date datum day month age edad alter 年齢 日付 {BIRTH}"
NO_DATES = frozenset(
    [
        "id",
        "ids",
        "type",
        "code",
        "source",
        "disposition",
        "number",
        "no",
        "nr",
        "nbr",
        "status",
        "class",
        "kind",
        "reason",
    ]
)
"""Words for what is about a day, and is none: the kind of an admission is not its day."""
NUMBERS = range(7, 14)
"""Identifiers that are numbers: of people, records, accounts, licenses, vehicles and devices."""
ANY_OTHER = 18
HARMLESS = frozenset(["drug", "disease", "diagnosis", "product", "admission", "type", "test"])


def words_of(name: str) -> frozenset[str]:
    """Return the words in a column's name, neighbours also joined."""
    parts = [part.lower() for part in _WORD.findall(name)]
    return frozenset([*parts, *(first + second for first, second in pairwise(parts))])


def hinted(name: str, hints: str) -> bool:
    """Return whether a column's name holds one of some words; those of unspaced scripts are looked for inside it."""
    own = words_of(name)
    return any(hint in own if hint.isascii() else hint in name for hint in hints.split())
