/** The roll-out that is under way, member by member; or what the last one came to. */

import { duration } from '../parts/amounts.ts'
import { Chip } from '../parts/chip.tsx'
import { Icon } from '../parts/icon.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import type { MemberProgress, Outcome, Rollout } from '../api/control/deployment.ts'
import { GraphFailures } from './graph-failures.tsx'
import css from './rollout.module.css'
import { memberTones, memberWords, outcomeFigures, outcomeWords, phases, phaseWords, progressWords,
  rolloutTitle, span } from './rollout-words.ts'

/** A roll-out that goes on. */
export function LiveRollout({ rollout }: { readonly rollout: Rollout }) {
  const { phase, members, by, message, started_at: began, watch_s: watch, kind } = rollout
  const shown = kind === 'check' ? phases.slice(0, 1) : phases
  const at = phases.indexOf(phase)
  return (
    <section className={css['card']} aria-label="Roll-out that is under way">
      <header>
        <h2>{rolloutTitle(rollout)}</h2>
        <span className={css['meta']}>
          <TimeText iso={began} />, by {by}
        </span>
      </header>
      {message !== '' && <p dir="auto">{message}</p>}
      <ol className={css['phases']}>
        {shown.map((each, index) => (
          <li key={each} aria-current={index === at ? 'step' : undefined}
            className={index < at ? css['done'] : index === at ? css['now'] : undefined}
          >
            {index < at && <Icon name="check" size={14} />}
            {phaseWords[each]}
            {each === 'watching' && watch > 0 && <small>for {span(watch)}</small>}
          </li>
        ))}
      </ol>
      <p className={css['meta']} role="status">
        {progressWords(rollout)}
      </p>
      <Members members={members} />
    </section>
  )
}

/** Card with the outcome of the last roll-out. */
export function LastRollout({ outcome }: { readonly outcome: Outcome }) {
  const { result, reason, failures, members, by, ended_at: ended } = outcome
  const isGood = result === 'done'
  return (
    <section className={`${css['card']} ${isGood ? '' : css['bad']}`} aria-label="Last roll-out">
      <header>
        <h2>{outcomeWords(outcome)}</h2>
        <span className={css['meta']}>
          <TimeText iso={ended} />, by {by}; {outcomeFigures(outcome)}
        </span>
      </header>
      {reason !== null && <p dir="auto">{reason}</p>}
      <GraphFailures failures={failures} />
      {(!isGood || members.some(({ state }) =>
        state === 'silent'
      )) && <Members members={members} isOver />}
    </section>
  )
}

function Members({ members, isOver = false }: {
  readonly members: readonly MemberProgress[]
  readonly isOver?: boolean
}) {
  if (members.length === 0) return null
  return (
    <ul className={css['members']} aria-label="Members">
      {members.map(({ id, state, ms }) => (
        <li key={id}>
          <code title={id}>{id.slice(0, 8)}</code>
          <Chip tone={memberTones[state]}>
            {isOver && state === 'waiting' ? 'Did not load' : memberWords[state]}
          </Chip>
          {ms !== null && <span>{duration(ms)}</span>}
        </li>
      ))}
    </ul>
  )
}
