/** Hosts of deployments with traces. */

import { expect, it } from 'vitest'

import type { TraceSpan, Tracing } from '../../../cluster/index.ts'
import { tracedGraphs } from '../../../src/server/traced-host.ts'
import { FakeDeployments, shop } from '../../support/fake-deployments.ts'
import { ScriptedHost } from '../../support/scripted-host.ts'
import { executionOf } from '../graph/project/host-project.ts'

it('A host that is found twice ends the span that it began.', () => {
  const deployed = new FakeDeployments()
  const host = new ScriptedHost()
  deployed.hosts.set('r1', host)
  const seen: string[] = []
  const begin = ({ name }: { name: string }): TraceSpan => {
    seen.push(`begin ${name}`)
    return { trace: 't', within: (work: () => unknown) => work(),
      end: (details: Record<string, unknown>) =>
        void seen.push(`end ${String(details['heddle.outcome'])}`) } as unknown as TraceSpan
  }
  const graphs = tracedGraphs(deployed, { begin } as unknown as Tracing)
  const source = {} as never
  const execution = executionOf({ id: 1, threadId: 'x', graphId: 'agent', runId: 'r', input: {} })
  graphs.hostOf(shop, 'r1').execute(execution, source, {} as never)
  expect(host.only.execution.trace).toBe('t')
  graphs.hostOf(shop, 'r1').abort(1)
  expect(seen).toEqual(['begin run agent', 'end aborted'])
  expect(graphs.view(shop)?.active).toBe('r1')
})

it('Without a collector the graphs are as they are.', () => {
  const deployed = new FakeDeployments()
  expect(tracedGraphs(deployed, undefined)).toBe(deployed)
})
