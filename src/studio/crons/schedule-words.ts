/** A schedule of five fields in words, such as "Monday to Friday at 07:00". Pure. */

/**
 * every   each value
 * step    each n-th value, from the first on
 * values  these values and ranges, ends included
 */
type Field =
  | { readonly kind: 'every' }
  | { readonly kind: 'step'; readonly step: number }
  | { readonly kind: 'values'; readonly ranges: readonly Range[] }

interface Range {
  readonly from: number
  readonly to: number
}

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August',
  'September', 'October', 'November', 'December']
/** Times of a day that are listed. */
const timesMax = 6

/** The words; undefined for a schedule that is rare enough to be read as it is. */
export function scheduleWords(schedule: string): string | undefined {
  const texts = schedule.trim().split(/\s+/)
  if (texts.length !== 5) return undefined
  const fields = texts.map((text, at) => fieldOf(text, at === 4 ? days : at === 3 ? months : []))
  if (fields.some((field) => field === undefined)) return undefined
  const [minute, hour, day, month, weekday] = fields as [Field, Field, Field, Field, Field]
  const time = timeWords(minute, hour)
  const date = dateWords(day, month, weekday)
  if (time === undefined || date === undefined) return undefined
  if (time.isInterval) return date === '' ? time.words : `${time.words}, ${date}`
  return date === '' ? `Every day at ${time.words}` : `${capital(date)} at ${time.words}`
}

function fieldOf(text: string, names: readonly string[]): Field | undefined {
  if (text === '*') return { kind: 'every' }
  const [, step] = /^\*\/(\d+)$/.exec(text) ?? []
  if (step !== undefined) return Number(step) > 0 ? { kind: 'step', step: Number(step) } : undefined
  const ranges = text.split(',').map((part) => rangeOf(part, names))
  return ranges.every((range) => range !== undefined)
    ? { kind: 'values', ranges: ranges as Range[] }
    : undefined
}

function rangeOf(text: string, names: readonly string[]): Range | undefined {
  const ends = text.split('-').map((end) => numberOf(end, names))
  const [from, to = from] = ends
  if (ends.length > 2 || from === undefined || to === undefined || to < from) return undefined
  return { from, to }
}

/** Names of three letters count as their numbers. */
function numberOf(text: string, names: readonly string[]): number | undefined {
  if (/^\d{1,2}$/.test(text)) return Number(text)
  const at = names.findIndex((name) => name.slice(0, 3).toLowerCase() === text.toLowerCase())
  if (at < 0) return undefined
  return names === months ? at + 1 : at
}

function timeWords(minute: Field, hour: Field):
  | { readonly words: string; readonly isInterval: boolean }
  | undefined {
  const at = oneOf(minute)
  if (at !== undefined) {
    const past = at === 0 ? '' : ` at ${at} past`
    if (hour.kind === 'every') return interval(`Every hour${past}`)
    if (hour.kind === 'step') return interval(`Every ${hour.step} hours${past}`)
  }
  const every = minute.kind === 'every'
    ? 'Every minute'
    : minute.kind === 'step'
    ? `Every ${minute.step} minutes`
    : undefined
  if (every !== undefined) {
    if (hour.kind === 'every') return interval(every)
    const [range, ...more] = hour.kind === 'values' ? hour.ranges : []
    if (range === undefined || more.length > 0) return undefined
    return interval(`${every} from ${clock(range.from, 0)} to ${clock(range.to, 59)}`)
  }
  const minutes = valuesOf(minute)
  const hours = valuesOf(hour)
  if (minutes === undefined || hours === undefined) return undefined
  if (minutes.length * hours.length > timesMax) return hoursBetween(minutes, hour)
  return { isInterval: false,
    words: listed(hours.flatMap((each) => minutes.map((past) => clock(each, past)))) }
}

function hoursBetween(minutes: readonly number[], hour: Field) {
  const [range, ...more] = hour.kind === 'values' ? hour.ranges : []
  const [past, ...others] = minutes
  if (range === undefined || past === undefined || more.length + others.length > 0) return undefined
  return interval(`Every hour from ${clock(range.from, past)} to ${clock(range.to, past)}`)
}

const interval = (words: string) => ({ words, isInterval: true })

/** Both days of the month and weekdays: either is enough, as cron has it. */
function dateWords(day: Field, month: Field, weekday: Field): string | undefined {
  const inMonth = monthWords(month)
  const onDay = dayWords(day)
  const onWeekday = weekdayWords(weekday)
  if (inMonth === undefined || onDay === undefined || onWeekday === undefined) return undefined
  const either = [onDay === '' ? '' : `${onDay} of ${inMonth === '' ? 'the month' : inMonth}`,
    onWeekday].filter((words) => words !== '').join(' or ')
  if (onDay !== '' || inMonth === '') return either
  return either === '' ? `every day in ${inMonth}` : `${either} in ${inMonth}`
}

function monthWords(month: Field): string | undefined {
  if (month.kind === 'every') return ''
  if (month.kind === 'step') return month.step === 1 ? '' : undefined
  return rangesIn(month.ranges, (at) => months[at - 1])
}

function dayWords(day: Field): string | undefined {
  if (day.kind === 'every') return ''
  if (day.kind === 'step') return undefined
  const words = rangesIn(day.ranges, (at) => at >= 1 && at <= 31 ? ordinal(at) : undefined)
  return words && `the ${words}`
}

/** Seven is Sunday, too. */
function weekdayWords(weekday: Field): string | undefined {
  if (weekday.kind === 'every') return ''
  if (weekday.kind === 'step') return undefined
  return rangesIn(weekday.ranges, (at) => at <= 7 ? days[at % 7] : undefined)
}

function rangesIn(ranges: readonly Range[], nameOf: (value: number) => string | undefined):
  | string
  | undefined {
  const words = ranges.map(({ from, to }) => {
    const [first, last] = [nameOf(from), nameOf(to)]
    if (first === undefined || last === undefined) return undefined
    return from === to ? first : `${first} to ${last}`
  })
  return words.every((each) => each !== undefined) ? listed(words as string[]) : undefined
}

const oneOf = (field: Field): number | undefined => {
  const values = valuesOf(field)
  return values?.length === 1 ? values[0] : undefined
}

function valuesOf(field: Field): readonly number[] | undefined {
  if (field.kind !== 'values') return undefined
  return field.ranges.flatMap(({ from, to }) =>
    Array.from({ length: to - from + 1 }, (_, at) => from + at)
  )
}

const clock = (hour: number, minute: number): string =>
  `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`

const capital = (words: string): string => words[0]!.toUpperCase() + words.slice(1)

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

function ordinal(value: number): string {
  const ending = value % 100 >= 11 && value % 100 <= 13
    ? 'th'
    : ['th', 'st', 'nd', 'rd'][value % 10] ?? 'th'
  return `${value}${ending}`
}
