"""Words in column names that hint at a role, in English, German, French, Spanish, Japanese and others.

Latin words stand here in lower case without accents (see :mod:`sudare.drafts.column_name_matches`, which also joins
neighbouring words, so that ``firstname`` meets first_name, firstName and FIRST NAME). Japanese words are looked for
inside a name, because Japanese writes no spaces; a word of one character must be the whole name, or it would be found
everywhere.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# These single a person out, or lead straight to one. One of them anywhere in a name is enough: a column that is
# dropped without need costs a line of editing, one that is released without need costs somebody their privacy.
IDENTIFIERS = _words("""
    surname firstname lastname fullname forename givenname familyname middlename maidenname birthname username
    nickname initials signature email mail phone telephone tel mobile cellphone fax contact
    address addr street housenumber houseno passport iban account acct bankaccount creditcard cardnumber cardno
    policyno policynumber ip ipaddress macaddress url website homepage license licence plate licenseplate
    numberplate vin idcard identitycard login password passwd
    imei imsi deviceid cookie uuid guid photo picture portrait fingerprint biometric serialnumber facebook twitter
    instagram skype linkedin
    vorname nachname familienname geburtsname rufname telefon telefonnummer telefonnr handy handynummer mobilnummer
    anschrift adresse strasse hausnummer hausnr konto kontonummer kontonr ausweis ausweisnummer personalausweis
    reisepass kennzeichen fuehrerschein unterschrift
    prenom nomdefamille courriel numerotelephone rue adressepostale passeport compte immatriculation permis
    apellido correo correoelectronico telefono movil celular direccion domicilio calle pasaporte cuenta matricula
    cognome nomecognome indirizzo cellulare cartaidentita patente targa passaporto
    achternaam voornaam telefoonnummer huisnummer rekeningnummer paspoort kenteken rijbewijs
    sobrenome apelido endereco telemovel
    氏名 名前 姓名 お名前 姓 名 患者名 顧客名 会員名 社員名 学生名 利用者名 フリガナ ふりがな カナ氏名 電話 携帯
    ファックス メール アドレス 住所 番地 旅券 パスポート 口座 カード番号 保険証 保険者番号 被保険者証
    免許証 運転免許 ナンバープレート 車両番号 ログイン 署名 顔写真 指紋
""")

# These number people, by name of the number. Never released either; but where they come back they say whom records
# are about, and people can be counted.
PERSON_NUMBERS = _words("""
    mrn medrec medrecno medrecnum medicalrecord medicalrecordno chartnumber chartno unitnumber chinumber
    patid patno patnr ptid ptno nhs nhsno nhsnumber nhsnum ssn socialsecurity socialinsurance medicare medicareno
    medicarenumber medicaidid medicaidno healthcard hicn mbi
    nationalid nationalidentity nationalinsurance nino idnumber idno personalid personid taxid taxpayer tin aadhaar nric
    hkid insuranceno insurancenumber insuranceid subscriberid subjid usubjid studentid studentno employeeid
    employeeno staffno payrollno
    patientennummer patientennr patientenid patientenkennung patnummer krankenaktennummer versichertennummer
    versichertennr versicherungsnummer versicherungsnr krankenversichertennummer kvnr kvnummer egknummer
    sozialversicherungsnummer svnr svnummer rentenversicherungsnummer ahv ahvnummer ahvnr steuernummer steuernr
    steuerid identifikationsnummer personenkennzahl personalnummer personalnr matrikelnummer matrikelnr
    ipp matricule numerosecu numsecu securitesociale nir insee numeroadherent numeroassure
    dni nif nie nss nhc numerohistoria numhistoria historiaclinica nuhsa cip curp cedula tarjetasanitaria
    numeroafiliacion numeropaciente
    codicefiscale codfiscale codfisc codicepaziente codicesanitario tesserasanitaria numerocartella cartellaclinica
    numeropaziente
    bsn burgerservicenummer sofinummer patientnummer patientnr clientnummer clientnr dossiernummer klantnummer
    verzekerdenummer polisnummer zorgnummer
    cpf numeroutente nutente numeroprontuario prontuario numerobeneficiario
    personnummer personnr fodselsnummer cprnr cprnummer cprnumber hetu henkilotunnus kennitala isikukood
    pesel rodnecislo oib jmbg egn cnp amka kimlikno tckimlik tckn
    被保険者番号 マイナンバー 個人番号 診察券番号 カルテ番号
""")

# A bare name is somebody's name, unless the name of one of the things below is meant.
NAME_WORDS = _words("name nom nombre nome")
NAMED_THINGS = _words("""
    city town country state region county province district department hospital clinic ward school company product
    brand course test disease diagnosis drug medication medicine procedure treatment job occupation
    stadt land ville pays ciudad pais
""")

# Text written by hand may mention anybody, however short it is.
FREE_TEXT = _words("""
    comment remark note memo freetext narrative bemerkung kommentar notiz freitext commentaire remarque comentario
    observacion 備考 コメント メモ 自由記述 特記事項
""")

# What of a person has a number of its own: it leads to the record, and from there to the person.
RECORDS = _words("""
    case encounter visit stay episode admission discharge chart file record rec claim contract sample specimen order
    invoice referral appointment hospital hosp medical registration reg enrollment enrolment transaction study policy
    accession prescription ticket booking incident complaint application loan
    fall akte akten krankenakte patientenakte aufnahme entlassung besuch behandlung behandlungs auftrag auftrags antrag
    antrags vertrag vertrags probe proben vorgang vorgangs rechnung rechnungs matrikel police policen versicherungs
    schein buchung buchungs
    dossier sejour visite hospitalisation cas fichier contrat facture venue passage
    historia expediente caso episodio ingreso visita registro poliza ficha siniestro
    cartella scheda ricovero pratica tessera sinistro
    opname zaak polis bezoek verzekerde dossier
    processo atendimento internacao
    sak journal sprawa
    受付 伝票 カルテ 診察券 症例 入院 レセプト 検体
""")

PLACES = _words("hospital hosp")

# Whom a record can be about. With a word for "number", or quite alone, such a name says who it is.
PERSONS = _words("""
    patient person customer client member subject participant respondent user employee worker student pupil citizen
    resident insured insuree policyholder beneficiary donor applicant borrower passenger guest individual enrollee
    pat pt pts pers subj usubj cust emp inmate prisoner defendant claimant tenant voter taxpayer subscriber
    kunde kunden person personen patienten mitglied mitglieds teilnehmer versicherten versicherter mitarbeiter
    schueler benutzer proband probanden buerger studenten versicherte arbeitnehmer klient klienten bewohner
    personne adherent assure utilisateur salarie etudiant eleve citoyen
    paciente cliente persona miembro usuario empleado alumno estudiante asegurado ciudadano afiliado
    paziente assistito utente dipendente studente cittadino iscritto patienten klant medewerker deelnemer verzekerde
    burger lid client beneficiario aluno funcionario utilizador pasient bruker pacjent
    患者 顧客 会員 被験者 対象者 加入者 被保険者 利用者 社員 従業員 職員 学生 生徒 受診者 個人 住民 ユーザー
""")
ID_WORDS = _words("""
    id ids identifier identifiant identificador identificativo kennung kennziffer uid pid key pk schluessel pseudonym
    pseudonyme pseudonimo psn 識別子 キー
""")
# These are numbers of persons only beside a person or quite alone: education-num is none.
NUMBER_WORDS = _words("""
    no nr nbr nmbr num numb number nummer numero nro index unnamed row rownum rowid 番号 コード 連番 通番
""")
# Beside a person these are numbers, too; beside anything else they say which kind.
CODE_WORDS = _words("code cod codice codigo kode ref reference referenz hash token n")
# "Number of patients" and "patient count" are no numbers of patients.
COUNTING = _words("of count per total anzahl nombre cantidad aantal 数")
# And a patient's type is not the patient.
DESCRIBING = _words("type typ kind class klasse group gruppe groupe grupo status category kategorie categorie level")

# What a neighbour, an employer or a register may know: demography, geography, dates.
QUASI = _words("""
    age birth born dob birthday birthdate birthyear birthplace dateofbirth yearofbirth sex gender zip zipcode postal
    postcode postalcode city town village country county state province region district municipality location place
    latitude longitude lat lon lng race ethnicity ethnic hispanic latino nationality citizenship language education
    degree school ancestry
    marital maritalstatus married family familysize children household relationship job occupation profession
    employer employment workclass industry department position title height weight admission discharge date day month
    year time death died deceased hospital ward
    alter geburt geburtsdatum geburtstag geburtsjahr geburtsort geschlecht plz postleitzahl ort wohnort stadt land
    bundesland kreis gemeinde staatsangehoerigkeit nationalitaet sprache bildung schulabschluss familienstand kinder
    haushalt beruf branche datum aufnahme entlassung jahr monat tag groesse gewicht
    naissance datenaissance sexe genre codepostal ville commune pays departement nationalite langue etudes diplome
    etatcivil situationfamiliale enfants metier emploi annee mois jour taille poids
    edad nacimiento fechanacimiento fecha sexo genero codigopostal ciudad municipio provincia pais nacionalidad
    idioma educacion estudios estadocivil hijos empleo ocupacion profesion ano mes dia peso altura raza etnia
    年齢 年代 生年月日 生年 誕生日 出生 性別 郵便番号 都道府県 市区町村 市町村 地域 国名 国籍 出身 人種 民族 言語
    学歴 学校 婚姻 配偶者 家族 世帯 続柄 職業 職種 業種 勤務先 役職 部署 身長 体重 入院 退院 受診日 日付
    年月日 年度 死亡
""")

# Of those, what nearly everybody knows who knows a person, and what analyses need: a wide draft keeps these first.
CORE = _words("""
    age birth dob birthdate birthyear dateofbirth yearofbirth sex gender race ethnicity ethnic hispanic nationality
    citizenship zip zipcode postal postcode postalcode country state region province county city education marital
    maritalstatus
    occupation job profession
    alter geburt geburtsdatum geburtsjahr geschlecht plz postleitzahl bundesland kreis wohnort staatsangehoerigkeit
    bildung familienstand beruf
    naissance datenaissance sexe genre codepostal commune departement nationalite etatcivil metier
    edad nacimiento fechanacimiento sexo genero codigopostal municipio provincia nacionalidad raza etnia estadocivil
    ocupacion
    年齢 年代 生年月日 生年 性別 郵便番号 都道府県 市区町村 国籍 人種 学歴 婚姻 職業
""")

# Of those, the three that together point at most people (Sweeney 2000): these come before all others.
FIRST = _words("""
    age dob birthdate birthday birthyear dateofbirth yearofbirth sex gender zip zipcode postal postcode postalcode
    alter geburtsdatum geburtstag geburtsjahr geschlecht plz postleitzahl
    datenaissance sexe codepostal edad fechanacimiento sexo codigopostal
    年齢 年代 生年月日 生年 性別 郵便番号
""")

# Of those, postal codes: digits whose beginnings are regions.
POSTAL = _words("zip zipcode postal postcode postalcode plz postleitzahl codepostal codigopostal 郵便番号")

# Of those, what stays a category even when it is coded in numbers: a range from one sex to another says nothing.
NOMINAL = _words("""
    sex gender race ethnicity ethnic nationality citizenship language country county state province region district
    city marital maritalstatus married relationship job occupation profession workclass industry department religion
    geschlecht familienstand beruf bundesland sexe genre etatcivil metier sexo genero estadocivil ocupacion raza
    性別 国籍 人種 民族 言語 都道府県 市区町村 婚姻 続柄 職業 職種 業種 宗教
""")

# What nobody may learn about a known person: health, money, belief, love, law, marks.
SENSITIVE = _words("""
    diagnosis diagnoses diagnostic diag dx disease illness disorder condition symptom icd comorbidity salary income wage
    earning bonus wealth debt loan credit hiv aids cancer diabetes pregnant pregnancy abortion disability addiction
    religion religious belief faith politics political party vote union sexual sexuality orientation genetic genome
    gene dna mutation drug medication medicine prescription treatment therapy surgery allergy result testresult lab
    score grade mark gpa crime criminal offence offense conviction arrest verdict sentence fraud bankruptcy default
    diagnose krankheit erkrankung befund gehalt lohn einkommen schulden kredit glaube konfession partei gewerkschaft
    medikament behandlung therapie ergebnis urteil straftat behinderung schwangerschaft
    diagnostique maladie salaire revenu dette syndicat traitement medicament resultat condamnation handicap grossesse
    diagnostico enfermedad salario sueldo ingreso deuda sindicato tratamiento medicamento resultado condena delito
    religiosa embarazo discapacidad
    診断 病名 疾患 疾病 傷病 症状 給与 給料 年収 所得 収入 賃金 借金 負債 信仰 宗教 政党 支持政党 組合 性的 遺伝 投薬
    薬剤 薬品 処方 治療 手術 検査結果 検査値 成績 点数 評価 犯罪 判決 前科 障害 妊娠 感染
""")

# Words for a diagnosis that end others, as in Hauptdiagnose and hoofddiagnose.
DIAGNOSIS_ENDS = ("diagnose", "diagnosen", "diagnoses", "diagnosis", "krankheit", "erkrankung", "befund")

# Written together in capitals, UTILITYID is the id of a utility, and COVID is none; nor is what ends in -aid or -oid.
NO_IDS = _words("""
    acid arid avid candid covid fluid grid humid hybrid invalid kid lipid liquid lucid madrid mid morbid nucleid
    orchid pallid peptid placid rabid rapid rigid solid splendid squid stupid timid torrid triglycerid glucosid valid
    vivid suicid pesticid plasmid chlorid fluorid oxid dioxid
""")

# Details of a treatment: nobody may learn them about a known person, and outsiders hardly ever know them exactly.
CLINICAL = _words("""
    procedure procedures surgeries outpatient inpatient emergency readmitted readmission rehospitalization
    glu glucose hba hbac bloodsugar serum plasma cholesterol triglyceride triglycerides ldl hdl creatinine egfr gfr
    hemoglobin haemoglobin hematocrit haematocrit sodium potassium calcium chloride bicarbonate lactate albumin
    bilirubin urea bun troponin ferritin inr platelet platelets leukocytes lymphocytes neutrophils wbc rbc crp tsh psa
    bloodpressure systolic diastolic heartrate spo biopsy tumor tumour stage staging metastasis chemotherapy
    radiotherapy vaccine vaccination antibody titer medicated antibiotic antibiotics insulin metformin dosage
    blutdruck blutzucker laborwert laborwerte kreatinin haemoglobin hamoglobin cholesterin impfung eingriff eingriffe
    prozedur prozeduren wiederaufnahme
    glycemie creatinine tension vaccin acte actes readmission
    glucosa creatinina colesterol hemoglobina vacuna procedimiento procedimientos reingreso
    血糖 血圧 脈拍 体温 ヘモグロビン クレアチニン コレステロール 手技 再入院 ワクチン
""")
CLINICAL_NAME = r"(?<![a-z])(hb)?a1c"
"""HbA1c has a digit in it, which words of names do not have."""
