/** Marks of a deployment: it is paused, a preview, or the one of this page. */

import { deploymentName } from '../api/place.ts'
import { Chip } from '../parts/chip.tsx'
import type { Deployment } from '../api/control/deployment.ts'
import { span } from './rollout-words.ts'

/** The chips beside its name. */
export function DeploymentMarks({ deployment: { name, paused, preview, problems = [] } }: {
  readonly deployment: Deployment
}) {
  return (
    <>
      {problems.length > 0 && (
        <Chip tone="failed" title={problems[0]!.reason}>
          {problems.every(({ serves_some: servesSome }) => servesSome)
            ? 'Cannot serve all graphs'
            : 'Cannot serve'}
        </Chip>
      )}
      {paused && <Chip tone="waiting" title="None of its runs starts">Paused</Chip>}
      {preview !== null && (
        <Chip tone="accent"
          title={`It has the secrets of ${preview.of}, and is removed ${
            span(preview.ttl_s)
          } after its last request`}
        >
          Preview of {preview.of}
        </Chip>
      )}
      {name === deploymentName && <Chip>this Studio</Chip>}
    </>
  )
}
