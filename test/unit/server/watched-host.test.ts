/** Hosts whose executions are noted: as spans, and with keys of their own. */

import { expect, it } from 'vitest'

import type { TraceSpan, Tracing } from '../../../cluster/index.ts'
import { RunKeys } from '../../../src/access/index.ts'
import type { AppUser } from '../../../src/graph/index.ts'
import { executionNotes } from '../../../src/server/execution-notes.ts'
import { watchedGraphs, watchedHost } from '../../../src/server/watched-host.ts'
import { FakeDeployments, shop } from '../../support/fake-deployments.ts'
import { virtualEnv } from '../../support/env.ts'
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
  const runKeys = new RunKeys<AppUser>(virtualEnv())
  const graphs = watchedGraphs(deployed,
    executionNotes({ begin } as unknown as Tracing, { runKeys, forAll: true }))
  const source = {} as never
  const execution = executionOf({ id: 1, threadId: 'x', graphId: 'agent', runId: 'r', input: {} })
  graphs.hostOf(shop, 'r1').execute(execution, source, {} as never)
  expect(host.only.execution.trace).toBe('t')
  expect(runKeys.find(host.only.execution.ownKey!)).toBe('local')
  graphs.hostOf(shop, 'r1').abort(1)
  expect(seen).toEqual(['begin run agent', 'end aborted'])
  expect(graphs.view(shop)?.active).toBe('r1')
})

it('The key of an execution ends with it, however it ends.', () => {
  const runKeys = new RunKeys<AppUser>(virtualEnv())
  const host = new ScriptedHost()
  const watched = watchedHost(host, executionNotes(undefined, { runKeys, forAll: true }))
  const listener = { steps: async () => {}, ended: () => {}, lost: () => {} }
  const execution = executionOf({ id: 1, threadId: 'x', graphId: 'agent', runId: 'r', input: {} })
  const begun = (id: number) => {
    watched.execute({ ...execution, id, tenant: 'acme@shop' }, {} as never, listener)
    const { execution: { ownKey }, listener: own } = host.running.get(id)!
    expect(runKeys.find(ownKey!)).toBe('acme@shop')
    return { own, isOpen: () => runKeys.find(ownKey!) !== undefined }
  }
  const [ended, lost, aborted, open] = [begun(1), begun(2), begun(3), begun(4)]
  ended.own.ended({ status: 'success' } as never)
  lost.own.lost('crashed')
  watched.abort(3)
  expect([ended, lost, aborted, open].map(({ isOpen }) => isOpen()))
    .toEqual([false, false, false, true])
})
