/** Events of members and shards since the page was opened, the newest first. */

import type { StoryLine } from './cluster-state.ts'
import { clockWords, exactWords } from '../parts/times/moment.ts'
import css from './cluster.module.css'

/** List of what happened in the cluster, the newest line first. */
export function Story({ lines }: { readonly lines: readonly StoryLine[] }) {
  return (
    <section className={css['story']} aria-label="What happened">
      <h2 className={css['title']}>What happened</h2>
      {lines.length === 0
        ? <p className={css['meta']}>Nothing since this page was opened.</p>
        : (
          <div role="log" aria-label="Changes" tabIndex={0}>
            <ol>
              {lines.map(({ key, at, tone, text }) => (
                <li key={key} className={css[tone]}>
                  <time dateTime={at} title={exactWords(Date.parse(at))}>
                    {clockWords(Date.parse(at), 1)}
                  </time>
                  <span>{text}</span>
                </li>
              ))}
            </ol>
          </div>
        )}
    </section>
  )
}
