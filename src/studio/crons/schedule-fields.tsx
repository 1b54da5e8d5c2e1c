/** The schedule of a cron and its zone, with what they mean and the next times. */

import { keepPreviousData, useQuery } from '@tanstack/react-query'

import { fieldFaults } from '../api/client.ts'
import { messageOf } from '../parts/error-message.ts'
import { Field, TextField } from '../parts/field.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { useSettled } from '../rows/settled.ts'
import { nextTimes } from './cron-calls.ts'
import type { CronDraft } from './cron-draft.ts'
import css from './crons.module.css'
import { DueTimes } from './due-times.tsx'
import { scheduleWords } from './schedule-words.ts'

const restMs = 200

const examples = [['* * * * *', 'Every minute'], ['0 * * * *', 'Every hour'], ['0 7 * * *',
  'Every day'], ['0 7 * * 1-5', 'Weekdays'], ['0 7 * * 1', 'Weekly'], ['0 7 1 * *',
  'Monthly']] as const

/** The fields. The server reads the schedule while it is typed. */
export function ScheduleFields({ draft: { schedule, timezone }, set, saved }: {
  readonly draft: CronDraft
  readonly set: (change: Partial<CronDraft>) => void
  /** Faults of the fields when they were saved. */
  readonly saved: Readonly<Record<string, string>>
}) {
  const asked = useSettled(`${schedule}\n${timezone}`, restMs)
  const [askedSchedule = '', askedZone = ''] = asked.split('\n')
  const { data, error, isPlaceholderData } = useQuery({ ...nextTimes(askedSchedule, askedZone),
    placeholderData: keepPreviousData })
  const isCurrent = askedSchedule === schedule && askedZone === timezone
  const found = fieldFaults(error)
  const isOfFields = Object.keys(found).length > 0
  const faults = isCurrent && isOfFields ? found : saved
  return (
    <>
      <TextField label="Schedule" required value={schedule} autoComplete="off" spellCheck={false}
        maxLength={256} error={faults['schedule']} className={css['code']} list="cron-examples"
        hint={scheduleWords(schedule) ?? 'Minute, hour, day of the month, month, day of the week.'}
        change={(text) => set({ schedule: text })} />
      <datalist id="cron-examples">
        {examples.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
      </datalist>
      <Field label="Time zone" error={faults['timezone']}>
        {(ids) => (
          <select {...ids} value={timezone}
            onChange={({ target }) => set({ timezone: target.value })}
          >
            <option value="">UTC</option>
            {zonesWith(timezone).map((zone) => <option key={zone}>{zone}</option>)}
          </select>
        )}
      </Field>
      <div className={css['preview']} aria-live="polite" aria-busy={!isCurrent}>
        {error !== null && !isOfFields
          ? <p className={css['fault']}>{messageOf(error)}</p>
          : error !== null || schedule.trim() === ''
          ? null
          : data === undefined
          ? <Skeleton width="60%" height={120} />
          : (
            <div data-old={isPlaceholderData || !isCurrent}>
              <DueTimes times={data.times} timezone={askedZone} />
            </div>
          )}
      </div>
    </>
  )
}

/** The zones that the browser knows, and the one that is set. */
function zonesWith(zone: string): readonly string[] {
  const known = Intl.supportedValuesOf('timeZone').filter((each) => each !== 'UTC')
  return zone === '' || known.includes(zone) ? known : [zone, ...known]
}
