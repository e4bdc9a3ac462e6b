"""What column names say, in five languages and all the ways of writing words together."""

import numpy as np
import pyarrow as pa
import pytest

from sudare.drafts.column_name_matches import read_name, split_words
from sudare.drafts.proposals import propose


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("firstName", ["first", "name"]),
        ("PATIENT_ID", ["patient", "id"]),
        ("PatientID2", ["patient", "id"]),
        ("IPAddress", ["ip", "address"]),
        ("Straße", ["strasse"]),
        ("Prénom", ["prenom"]),
        ("患者ID", ["患者", "id"]),
        ("患者番号", ["患者", "番号"]),
        ("ＩＤ", ["id"]),
        ("ガス", ["ガス"]),
        ("", []),
        ("12-34", []),
    ],
)
def test_words(name, expected):
    assert split_words(name) == expected


@pytest.mark.parametrize(
    "name",
    [
        "name", "Names", "surname", "first_name", "lastName", "patient name", "birth_name", "ssn", "email", "E-Mail",
        "EmailAddress", "phone", "home_phone_2", "mobile", "address", "addresses", "street", "passport_no", "iban",
        "account", "insurance_no", "mrn", "ip", "IPAddress", "url", "license plate", "national-id", "Vorname",
        "Straße", "Telefonnummer", "Hausnr", "Kontonummer", "prénom", "nom de famille", "courriel", "téléphone",
        "apellidos", "teléfono", "dirección", "correo electrónico", "氏名", "患者氏名", "名", "電話", "電話番号",
        "住所1", "メールアドレス", "マイナンバー", "フリガナ",
    ],
)  # fmt: skip
def test_identifiers(name):
    assert read_name(name).identifier


@pytest.mark.parametrize("name", ["UTILITYID", "PATIENTID", "STUDENTID", "HOSPITALID", "UTILITYID2", "FK_UTILITYID"])
def test_ids_written_together_in_capitals(name):
    assert read_name(name).id_like or read_name(name).person_number


@pytest.mark.parametrize("name", ["COVID", "INVALID", "UNPAID", "MEDICAID", "THYROID", "OPIOID", "HYBRID", "Utilityid"])
def test_words_in_capitals_that_end_like_ids(name):
    assert not read_name(name).id_like


@pytest.mark.parametrize(
    "name", ["Hauptdiagnose", "NEBENDIAGNOSE", "aufnahmediagnosen", "hoofddiagnose", "Vorerkrankung", "Laborbefund"]
)
def test_compounds_of_diagnoses(name):
    assert read_name(name).sensitive
    assert not read_name("diagnosegruppenart").sensitive


@pytest.mark.parametrize(
    "name", ["city_name", "drug name", "age", "education-num", "病名", "country", "hostname_count", "filename", "職業"]
)
def test_not_identifiers(name):
    assert not read_name(name).identifier


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("patient_id", 3), ("PatientID", 3), ("patientid", 3), ("customer no.", 3), ("Kundennummer", 3),
        ("study subject id", 3), ("患者番号", 3), ("会員ID", 3), ("customer", 2), ("Member", 2), ("患者", 2),
        ("id", 1), ("ID_key", 1), ("patient_age", 0), ("number_of_patients", 0), ("患者数", 0), ("hospital_id", 0),
        ("customer_segment", 0), ("education-num", 0),
    ],
)  # fmt: skip
def test_who(name, rank):
    assert read_name(name).subject_rank == rank


@pytest.mark.parametrize(
    "name",
    ["pat_no", "PatNr", "patient_nbr", "pt_id", "Patientennummer", "Versichertennummer", "VersichertenNr", "KVNR",
     "SVNR", "AHV-Nr.", "nhs_number", "NHS No", "MRN", "SSN", "medical_record", "numéro patient", "num_patient",
     "code_patient", "IPP", "NIR", "matricule", "DNI", "NHC", "cod_paciente", "número_historia", "CURP",
     "codice_fiscale", "codice paziente", "tessera sanitaria", "BSN", "patiëntnummer", "klantnummer", "CPF",
     "personnummer", "PESEL", "USUBJID", "subj_id", "aadhaar", "customer_ref", "カルテ番号"],
)  # fmt: skip
def test_numbers_of_people(name):
    assert read_name(name).subject_rank == 3


@pytest.mark.parametrize(
    "name",
    ["case_no", "caseid", "Fallnummer", "Fall-Nr.", "hospital_number", "hosp_no", "Aufnahmenummer", "Aktennummer",
     "Auftragsnr", "visit_no", "encounter_id", "admission_number", "chart_id", "N° dossier", "no_dossier", "séjour_no",
     "num_expediente", "numero_cartella", "opname_nr", "claim_id", "specimen_no", "record_id", "症例番号"],
)  # fmt: skip
def test_numbers_of_what_is_about_people(name):
    assert read_name(name).subject_rank >= 1
    assert read_name(name).id_like or read_name(name).identifier


@pytest.mark.parametrize(
    "name",
    ["num_visits", "number_diagnoses", "number_inpatient", "num_procedures", "n_patients", "num_patients",
     "patient_type_id", "member_status_code", "admission_type_id", "discharge_disposition_id", "case_count",
     "medical_specialty", "time_in_hospital", "loan_amount", "payer_code", "personality", "casino"],
)  # fmt: skip
def test_counts_and_kinds_are_no_numbers_of_people(name):
    assert read_name(name).subject_rank == 0
    assert not read_name(name).identifier


@pytest.mark.parametrize(
    "name",
    ["age", "date_of_birth", "DOB", "Sex", "gender", "ZIP", "Postal Code", "city", "country", "race", "ethnicity",
     "nationality", "education", "marital-status", "job", "occupation", "workclass", "admission date", "Geschlecht",
     "Geburtsdatum", "PLZ", "Familienstand", "Staatsangehörigkeit", "date de naissance", "code postal", "état civil",
     "edad", "código postal", "año", "年齢", "性別", "生年月日", "都道府県", "郵便番号"],
)  # fmt: skip
def test_quasi(name):
    assert read_name(name).quasi


@pytest.mark.parametrize(
    "name",
    ["diagnosis", "main_diagnoses", "disease", "ICD10", "salary", "income", "wages", "hiv", "religion",
     "political party", "union", "sexual_orientation", "genetic_marker", "drug", "treatment", "test result", "score",
     "grade", "debt", "crime", "verdict", "Krankheit", "Gehalt", "maladie", "salaire", "enfermedad", "diagnóstico",
     "病名", "主傷病名", "年収", "宗教", "検査結果"],
)  # fmt: skip
def test_sensitive(name):
    assert read_name(name).sensitive


def test_postal_and_nominal():
    assert read_name("zip_code").postal
    assert read_name("郵便番号").postal
    assert read_name("sex").nominal
    assert not read_name("age").nominal


@pytest.mark.parametrize("name", ["NOEMP", "no_emp", "NOPERS"])
def test_how_many_people_there_are_is_no_person(name):
    """Counted by such a column, five people would be five numbers of people."""
    draw = np.random.default_rng(1)
    table = pa.table({name: draw.integers(0, 7, 2_000), "age": draw.integers(0, 90, 2_000)})
    found = propose(table)
    assert found.words[name] == "quasi"
    assert "may be how many people there are" in found.guesses[name].why


def test_a_number_of_a_person_stays_one():
    draw = np.random.default_rng(1)
    for name, values in (("no_patient", 500), ("patient_no", 7), ("emp_no", 500)):
        table = pa.table({name: draw.integers(0, values, 2_000), "age": draw.integers(0, 90, 2_000)})
        assert propose(table).words[name] == "subject"
