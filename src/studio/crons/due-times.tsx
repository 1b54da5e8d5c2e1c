/** The next times of a schedule, in the reader's zone and in that of the cron. */

import { momentWords, ownZone } from '../parts/times/moment.ts'
import { Moment } from '../parts/times/time-text.tsx'
import css from './crons.module.css'

/** The times; `timezone` is that of the cron, empty for UTC. */
export function DueTimes({ times, timezone }: {
  readonly times: readonly string[]
  readonly timezone: string
}) {
  const zone = timezone === '' ? 'UTC' : timezone
  const own = ownZone()
  const isOwn = times.every((iso) =>
    momentWords(Date.parse(iso)) === momentWords(Date.parse(iso), { zone })
  )
  return (
    <table className={css['times']} aria-label="Next runs">
      <thead>
        <tr>
          <th scope="col">{isOwn ? `Next runs (${zone})` : `Your time (${own})`}</th>
          {!isOwn && <th scope="col">{zone}</th>}
        </tr>
      </thead>
      <tbody>
        {times.map((iso) => (
          <tr key={iso}>
            <td>
              <Moment iso={iso} />
            </td>
            {!isOwn && <td>{momentWords(Date.parse(iso), { zone })}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
