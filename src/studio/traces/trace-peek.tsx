/** The root of a trace beside the list: enough to tell whether it is the one that is looked for. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { spanQuery } from '../api/platform/traces.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { useKeys } from '../parts/keys.ts'
import { useSettled } from '../rows/settled.ts'
import { SpanDetail } from './span/span-detail.tsx'
import css from './trace-peek.module.css'

/** The pane. It goes with `j` and `k`, and away with Escape. */
export function TracePeek({ projectId, spanId, close }: {
  readonly projectId: string
  readonly spanId: string
  readonly close: () => void
}) {
  const settled = useSettled(spanId, 80)
  const { data: span } = useQuery(spanQuery({ projectId, spanId: settled }))
  useKeys('Trace beside the list', { Escape: { words: 'Close it', act: close } })
  return (
    <aside className={css['pane']} aria-label="Trace">
      <div className={css['acts']}>
        <Link to="/traces/$project/$trace" search={{}} className={buttonClass('plain', true)}
          params={{ project: projectId, trace: span?.trace_id ?? spanId }}
        >
          Open the trace
        </Link>
        <Button kind="quiet" small label="Close" icon={<Icon name="close" size={14} />}
          onClick={close} />
      </div>
      <SpanDetail projectId={projectId} spanId={settled} />
    </aside>
  )
}
