"""Countries of ISO 3166-1 in the regions and sub-regions of the United Nations (M49).

Of each country there are the two codes and a short English name. The sub-regions are the finest ones of M49: in Africa
and America these are its intermediate regions. M49 does not list Taiwan, which has a code of ISO 3166; it stands in
Eastern Asia. M49 gives Antarctica no region, so it stands below the root.
"""

COUNTRIES = """
Africa/Northern Africa: DZ DZA Algeria; EG EGY Egypt; LY LBY Libya; MA MAR Morocco; SD SDN Sudan; TN TUN Tunisia;
 EH ESH Western Sahara
Africa/Eastern Africa: IO IOT British Indian Ocean Territory; BI BDI Burundi; KM COM Comoros; DJ DJI Djibouti;
 ER ERI Eritrea; ET ETH Ethiopia; TF ATF French Southern Territories; KE KEN Kenya; MG MDG Madagascar; MW MWI Malawi;
 MU MUS Mauritius; YT MYT Mayotte; MZ MOZ Mozambique; RE REU Réunion; RW RWA Rwanda; SC SYC Seychelles; SO SOM Somalia;
 SS SSD South Sudan; TZ TZA Tanzania; UG UGA Uganda; ZM ZMB Zambia; ZW ZWE Zimbabwe
Africa/Middle Africa: AO AGO Angola; CM CMR Cameroon; CF CAF Central African Republic; TD TCD Chad; CG COG Congo;
 CD COD Democratic Republic of the Congo; GQ GNQ Equatorial Guinea; GA GAB Gabon; ST STP Sao Tome and Principe
Africa/Southern Africa: BW BWA Botswana; SZ SWZ Eswatini; LS LSO Lesotho; NA NAM Namibia; ZA ZAF South Africa
Africa/Western Africa: BJ BEN Benin; BF BFA Burkina Faso; CV CPV Cabo Verde; CI CIV Côte d'Ivoire; GM GMB Gambia;
 GH GHA Ghana; GN GIN Guinea; GW GNB Guinea-Bissau; LR LBR Liberia; ML MLI Mali; MR MRT Mauritania; NE NER Niger;
 NG NGA Nigeria; SH SHN Saint Helena; SN SEN Senegal; SL SLE Sierra Leone; TG TGO Togo
Americas/Caribbean: AI AIA Anguilla; AG ATG Antigua and Barbuda; AW ABW Aruba; BS BHS Bahamas; BB BRB Barbados;
 BQ BES Bonaire, Sint Eustatius and Saba; VG VGB British Virgin Islands; KY CYM Cayman Islands; CU CUB Cuba;
 CW CUW Curaçao; DM DMA Dominica; DO DOM Dominican Republic; GD GRD Grenada; GP GLP Guadeloupe; HT HTI Haiti;
 JM JAM Jamaica; MQ MTQ Martinique; MS MSR Montserrat; PR PRI Puerto Rico; BL BLM Saint Barthélemy;
 KN KNA Saint Kitts and Nevis; LC LCA Saint Lucia; MF MAF Saint Martin (French part);
 VC VCT Saint Vincent and the Grenadines; SX SXM Sint Maarten (Dutch part); TT TTO Trinidad and Tobago;
 TC TCA Turks and Caicos Islands; VI VIR United States Virgin Islands
Americas/Central America: BZ BLZ Belize; CR CRI Costa Rica; SV SLV El Salvador; GT GTM Guatemala; HN HND Honduras;
 MX MEX Mexico; NI NIC Nicaragua; PA PAN Panama
Americas/South America: AR ARG Argentina; BO BOL Bolivia; BV BVT Bouvet Island; BR BRA Brazil; CL CHL Chile;
 CO COL Colombia; EC ECU Ecuador; FK FLK Falkland Islands; GF GUF French Guiana; GY GUY Guyana; PY PRY Paraguay;
 PE PER Peru; GS SGS South Georgia and the South Sandwich Islands; SR SUR Suriname; UY URY Uruguay; VE VEN Venezuela
Americas/Northern America: BM BMU Bermuda; CA CAN Canada; GL GRL Greenland; PM SPM Saint Pierre and Miquelon;
 US USA United States of America
Asia/Central Asia: KZ KAZ Kazakhstan; KG KGZ Kyrgyzstan; TJ TJK Tajikistan; TM TKM Turkmenistan; UZ UZB Uzbekistan
Asia/Eastern Asia: CN CHN China; HK HKG Hong Kong; MO MAC Macao; KP PRK Democratic People's Republic of Korea;
 JP JPN Japan; MN MNG Mongolia; KR KOR Republic of Korea; TW TWN Taiwan
Asia/South-eastern Asia: BN BRN Brunei Darussalam; KH KHM Cambodia; ID IDN Indonesia;
 LA LAO Lao People's Democratic Republic; MY MYS Malaysia; MM MMR Myanmar; PH PHL Philippines; SG SGP Singapore;
 TH THA Thailand; TL TLS Timor-Leste; VN VNM Viet Nam
Asia/Southern Asia: AF AFG Afghanistan; BD BGD Bangladesh; BT BTN Bhutan; IN IND India; IR IRN Iran; MV MDV Maldives;
 NP NPL Nepal; PK PAK Pakistan; LK LKA Sri Lanka
Asia/Western Asia: AM ARM Armenia; AZ AZE Azerbaijan; BH BHR Bahrain; CY CYP Cyprus; GE GEO Georgia; IQ IRQ Iraq;
 IL ISR Israel; JO JOR Jordan; KW KWT Kuwait; LB LBN Lebanon; OM OMN Oman; PS PSE Palestine; QA QAT Qatar;
 SA SAU Saudi Arabia; SY SYR Syrian Arab Republic; TR TUR Türkiye; AE ARE United Arab Emirates; YE YEM Yemen
Europe/Eastern Europe: BY BLR Belarus; BG BGR Bulgaria; CZ CZE Czechia; HU HUN Hungary; PL POL Poland;
 MD MDA Republic of Moldova; RO ROU Romania; RU RUS Russian Federation; SK SVK Slovakia; UA UKR Ukraine
Europe/Northern Europe: AX ALA Åland Islands; DK DNK Denmark; EE EST Estonia; FO FRO Faroe Islands; FI FIN Finland;
 GG GGY Guernsey; IS ISL Iceland; IE IRL Ireland; IM IMN Isle of Man; JE JEY Jersey; LV LVA Latvia; LT LTU Lithuania;
 NO NOR Norway; SJ SJM Svalbard and Jan Mayen; SE SWE Sweden; GB GBR United Kingdom
Europe/Southern Europe: AL ALB Albania; AD AND Andorra; BA BIH Bosnia and Herzegovina; HR HRV Croatia;
 GI GIB Gibraltar; GR GRC Greece; VA VAT Holy See; IT ITA Italy; MT MLT Malta; ME MNE Montenegro;
 MK MKD North Macedonia; PT PRT Portugal; SM SMR San Marino; RS SRB Serbia; SI SVN Slovenia; ES ESP Spain
Europe/Western Europe: AT AUT Austria; BE BEL Belgium; FR FRA France; DE DEU Germany; LI LIE Liechtenstein;
 LU LUX Luxembourg; MC MCO Monaco; NL NLD Netherlands; CH CHE Switzerland
Oceania/Australia and New Zealand: AU AUS Australia; CX CXR Christmas Island; CC CCK Cocos (Keeling) Islands;
 HM HMD Heard Island and McDonald Islands; NZ NZL New Zealand; NF NFK Norfolk Island
Oceania/Melanesia: FJ FJI Fiji; NC NCL New Caledonia; PG PNG Papua New Guinea; SB SLB Solomon Islands; VU VUT Vanuatu
Oceania/Micronesia: GU GUM Guam; KI KIR Kiribati; MH MHL Marshall Islands; FM FSM Federated States of Micronesia;
 NR NRU Nauru; MP MNP Northern Mariana Islands; PW PLW Palau; UM UMI United States Minor Outlying Islands
Oceania/Polynesia: AS ASM American Samoa; CK COK Cook Islands; PF PYF French Polynesia; NU NIU Niue; PN PCN Pitcairn;
 WS WSM Samoa; TK TKL Tokelau; TO TON Tonga; TV TUV Tuvalu; WF WLF Wallis and Futuna
-/-: AQ ATA Antarctica
"""
OTHER_COUNTRY_NAMES = """
BO Plurinational State of Bolivia; BO Bolivia (Plurinational State of); BN Brunei; CD DR Congo; CD Congo (Kinshasa);
CD Congo, Democratic Republic of the; CD Congo (the Democratic Republic of the); CG Congo (Brazzaville);
CG Republic of the Congo; CI Ivory Coast; CN People's Republic of China; CV Cape Verde; CZ Czech Republic;
FK Falkland Islands (Malvinas); FM Micronesia (Federated States of); FM Micronesia, Federated States of;
GB Great Britain; GB UK; GB England; GB Scotland; GB Wales; GB Northern Ireland;
GB United Kingdom of Great Britain and Northern Ireland; GM The Gambia; BS The Bahamas; HK Hong Kong SAR;
HK China, Hong Kong SAR; HK China, Hong Kong Special Administrative Region; IR Iran (Islamic Republic of);
IR Iran, Islamic Republic of; KP Korea (Democratic People's Republic of); KP Korea, Democratic People's Republic of;
KP North Korea; KR Korea (Republic of); KR Korea, Republic of; KR Korea (the Republic of); KR South Korea; LA Laos;
MD Moldova; MD Moldova, Republic of; MK Macedonia; MK Republic of North Macedonia; MM Burma; MO Macau;
MO China, Macao SAR; MO Macao SAR; MO China, Macao Special Administrative Region; NL The Netherlands;
NL Netherlands (Kingdom of the); NL Holland; PS State of Palestine; PS Palestine, State of; PS Palestinian Territories;
RU Russia; SH Saint Helena, Ascension and Tristan da Cunha; ST São Tomé and Príncipe; SY Syria; SZ Swaziland;
TL East Timor; TR Turkey; TW Taiwan, Province of China; TW Taiwan (Province of China); TZ Tanzania, United Republic of;
TZ United Republic of Tanzania; US United States; US The United States; US U.S.; US U.S.A.;
VA Holy See (Vatican City State); VA Vatican; VA Vatican City; VE Venezuela (Bolivarian Republic of);
VE Venezuela, Bolivarian Republic of; VG Virgin Islands (British); VG Virgin Islands, British;
VI Virgin Islands (U.S.); VI Virgin Islands, U.S.; VI U.S. Virgin Islands; VI US Virgin Islands; VN Vietnam
"""
