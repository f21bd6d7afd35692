/**
 * The units: how many of the base unit of its kind one is. Factors are definitions, written as they are defined, so that
 * nobody has to trust a rounded number.
 */

export interface Unit {
  name: string;
  kind: string;
  /** In base units of the kind; for fuel use this is applied to the inverse, see `isInverse`. */
  factor: number;
  /** Added after the factor, for temperatures: base = value × factor + offset. */
  offset?: number;
  /** Larger means less of it, as miles per gallon beside litres per 100 km. */
  isInverse?: boolean;
  /** What it is called besides its name. Case counts: `Mb` is no `MB`. */
  symbols: string[];
}

const INCH = 0.0254;
const FOOT = 12 * INCH;
const YARD = 3 * FOOT;
const MILE = 1760 * YARD;
const POUND = 0.45359237;
const US_GALLON = 231 * INCH ** 3;
const UK_GALLON = 4.54609e-3;
const STANDARD_GRAVITY = 9.80665;
const POUND_FORCE = POUND * STANDARD_GRAVITY;
const JULIAN_YEAR = 365.25 * 86400;

type Row = [name: string, factor: number, symbols?: string];

function kind(name: string, rows: Row[]): Unit[] {
  return rows.map(([unit, factor, symbols = '']) => ({
    name: unit,
    kind: name,
    factor,
    symbols: symbols === '' ? [] : symbols.split(' '),
  }));
}

const SIZES: Row[] = [['bit', 1 / 8, 'b'], ['byte', 1, 'B']];
for (const [at, prefix] of ['kilo', 'mega', 'giga', 'tera', 'peta', 'exa'].entries()) {
  const letter = 'kMGTPE'.charAt(at);
  SIZES.push([`${prefix}byte`, 1000 ** (at + 1), at === 0 ? 'kB' : `${letter}B`]);
  SIZES.push([`${prefix}bit`, 1000 ** (at + 1) / 8, at === 0 ? 'kb kbit' : `${letter}b ${letter}bit`]);
}
for (const [at, prefix] of ['kibi', 'mebi', 'gibi', 'tebi', 'pebi', 'exbi'].entries()) {
  const letter = 'KMGTPE'.charAt(at);
  SIZES.push([`${prefix}byte`, 1024 ** (at + 1), `${letter}iB`]);
  SIZES.push([`${prefix}bit`, 1024 ** (at + 1) / 8, `${letter}ib ${letter}ibit`]);
}

export const UNITS: readonly Unit[] = [
  ...kind('length', [
    ['metre', 1, 'm meter'], ['kilometre', 1e3, 'km kilometer'], ['decimetre', 0.1, 'dm decimeter'],
    ['centimetre', 1e-2, 'cm centimeter'], ['millimetre', 1e-3, 'mm millimeter'],
    ['micrometre', 1e-6, 'µm μm um micrometer micron'], ['nanometre', 1e-9, 'nm nanometer'],
    ['inch', INCH, 'in " ″ inches'], ['foot', FOOT, "ft ' ′ feet"], ['yard', YARD, 'yd'], ['mile', MILE, 'mi'],
    ['nautical mile', 1852, 'nmi NM'], ['light-year', 299792458 * JULIAN_YEAR, 'ly'],
    ['astronomical unit', 149597870700, 'au AU'],
  ]),
  ...kind('area', [
    ['square metre', 1, 'm² m2 sqm'], ['square kilometre', 1e6, 'km² km2'], ['square centimetre', 1e-4, 'cm² cm2'],
    ['square millimetre', 1e-6, 'mm² mm2'], ['hectare', 1e4, 'ha'], ['are', 100, 'a'],
    ['square inch', INCH ** 2, 'in² in2 sqin'], ['square foot', FOOT ** 2, 'ft² ft2 sqft'],
    ['square yard', YARD ** 2, 'yd² yd2'], ['square mile', MILE ** 2, 'mi² mi2'], ['acre', 4840 * YARD ** 2, 'ac'],
  ]),
  ...kind('volume', [
    ['cubic metre', 1, 'm³ m3'], ['litre', 1e-3, 'l L liter'], ['hectolitre', 0.1, 'hl hL'],
    ['decilitre', 1e-4, 'dl dL'], ['centilitre', 1e-5, 'cl cL'], ['millilitre', 1e-6, 'ml mL milliliter'],
    ['cubic centimetre', 1e-6, 'cm³ cm3 cc'], ['cubic inch', INCH ** 3, 'in³ in3'], ['cubic foot', FOOT ** 3, 'ft³ ft3'],
    ['US gallon', US_GALLON, 'usgal'], ['US quart', US_GALLON / 4, 'usqt'], ['US pint', US_GALLON / 8, 'uspt'],
    ['US cup', US_GALLON / 16, 'uscup'], ['US fluid ounce', US_GALLON / 128, 'usfloz'],
    ['US tablespoon', US_GALLON / 256, 'ustbsp'], ['US teaspoon', US_GALLON / 768, 'ustsp'],
    ['UK gallon', UK_GALLON, 'ukgal'], ['UK pint', UK_GALLON / 8, 'ukpt'], ['UK fluid ounce', UK_GALLON / 160, 'ukfloz'],
    ['oil barrel', 42 * US_GALLON, 'bbl'],
  ]),
  ...kind('mass', [
    ['kilogram', 1, 'kg kilo'], ['gram', 1e-3, 'g'], ['milligram', 1e-6, 'mg'], ['microgram', 1e-9, 'µg μg ug mcg'],
    ['tonne', 1e3, 't'], ['pound', POUND, 'lb lbs'], ['ounce', POUND / 16, 'oz'], ['stone', 14 * POUND, 'st'],
    ['US ton', 2000 * POUND, 'short-ton'], ['UK ton', 2240 * POUND, 'long-ton'], ['troy ounce', 0.0311034768, 'ozt'],
    ['carat', 2e-4, 'ct'], ['grain', POUND / 7000, 'gr'],
  ]),
  { name: 'kelvin', kind: 'temperature', factor: 1, symbols: ['K'] },
  { name: 'degree Celsius', kind: 'temperature', factor: 1, offset: 273.15, symbols: ['°C', 'C', '℃', 'celsius'] },
  {
    name: 'degree Fahrenheit', kind: 'temperature', factor: 5 / 9, offset: 273.15 - 160 / 9,
    symbols: ['°F', 'F', '℉', 'fahrenheit'],
  },
  { name: 'degree Rankine', kind: 'temperature', factor: 5 / 9, symbols: ['°R', 'rankine'] },
  ...kind('speed', [
    ['metre per second', 1, 'm/s mps'], ['kilometre per hour', 1 / 3.6, 'km/h kmh kph'], ['mile per hour', MILE / 3600, 'mph mi/h'],
    ['knot', 1852 / 3600, 'kn kt'], ['foot per second', FOOT, 'ft/s fps'], ['speed of light', 299792458, 'c'],
  ]),
  ...kind('time', [
    ['second', 1, 's sec'], ['millisecond', 1e-3, 'ms'], ['microsecond', 1e-6, 'µs μs us'], ['nanosecond', 1e-9, 'ns'],
    ['minute', 60, 'min'], ['hour', 3600, 'h hr'], ['day', 86400, 'd'], ['week', 604800, 'wk'],
    ['Julian year', JULIAN_YEAR, 'yr'],
  ]),
  ...kind('data size', SIZES),
  ...kind('energy', [
    ['joule', 1, 'J'], ['kilojoule', 1e3, 'kJ'], ['megajoule', 1e6, 'MJ'], ['watt hour', 3600, 'Wh'],
    ['kilowatt hour', 3.6e6, 'kWh'], ['megawatt hour', 3.6e9, 'MWh'], ['calorie', 4.184, 'cal'],
    ['kilocalorie', 4184, 'kcal Cal'], ['British thermal unit', 1055.05585262, 'BTU Btu'], ['electronvolt', 1.602176634e-19, 'eV'],
  ]),
  ...kind('power', [
    ['watt', 1, 'W'], ['kilowatt', 1e3, 'kW'], ['megawatt', 1e6, 'MW'], ['milliwatt', 1e-3, 'mW'],
    ['horsepower', 550 * FOOT * POUND_FORCE, 'hp'], ['metric horsepower', 75 * STANDARD_GRAVITY, 'PS'],
  ]),
  ...kind('pressure', [
    ['pascal', 1, 'Pa'], ['hectopascal', 100, 'hPa'], ['kilopascal', 1e3, 'kPa'], ['megapascal', 1e6, 'MPa'],
    ['bar', 1e5], ['millibar', 100, 'mbar'], ['atmosphere', 101325, 'atm'], ['torr', 101325 / 760, 'Torr'],
    ['millimetre of mercury', 133.322387415, 'mmHg'], ['pound per square inch', POUND_FORCE / INCH ** 2, 'psi'],
  ]),
  ...kind('angle', [
    ['radian', 1, 'rad'], ['degree', Math.PI / 180, '° deg'], ['gradian', Math.PI / 200, 'gon grad'],
    ['turn', 2 * Math.PI, 'rev'], ['arcminute', Math.PI / 10800, 'arcmin'], ['arcsecond', Math.PI / 648000, 'arcsec'],
  ]),
  ...kind('frequency', [
    ['hertz', 1, 'Hz'], ['kilohertz', 1e3, 'kHz'], ['megahertz', 1e6, 'MHz'], ['gigahertz', 1e9, 'GHz'],
    ['revolution per minute', 1 / 60, 'rpm'],
  ]),
  { name: 'litre per 100 kilometres', kind: 'fuel use', factor: 1e-8, symbols: ['l/100km', 'L/100km'] },
  { name: 'kilometre per litre', kind: 'fuel use', factor: 1e6, isInverse: true, symbols: ['km/l', 'km/L'] },
  { name: 'mile per US gallon', kind: 'fuel use', factor: MILE / US_GALLON, isInverse: true, symbols: ['usmpg'] },
  { name: 'mile per UK gallon', kind: 'fuel use', factor: MILE / UK_GALLON, isInverse: true, symbols: ['ukmpg'] },
];

/** Words that mean more than one unit: asking is better than guessing. */
export const AMBIGUOUS: Readonly<Record<string, string[]>> = {
  gallon: ['US gallon', 'UK gallon'],
  gal: ['US gallon', 'UK gallon'],
  pint: ['US pint', 'UK pint'],
  pt: ['US pint', 'UK pint'],
  quart: ['US quart'],
  cup: ['US cup'],
  'fluid ounce': ['US fluid ounce', 'UK fluid ounce'],
  'fl oz': ['US fluid ounce', 'UK fluid ounce'],
  tablespoon: ['US tablespoon'],
  teaspoon: ['US teaspoon'],
  ton: ['tonne', 'US ton', 'UK ton'],
  mpg: ['mile per US gallon', 'mile per UK gallon'],
  'miles per gallon': ['mile per US gallon', 'mile per UK gallon'],
  year: ['Julian year'],
  month: [],
  barrel: ['oil barrel'],
};
