/** What graph processes of deployments get of the server that starts them. */

import { expect, it } from 'vitest'

import { HostWiring } from '../../../../src/deployment/serving/host-wiring.ts'
import type { GraphProcess, WriteTraces } from '../../../../src/graph/index.ts'

/** A process that writes a recording on each call of `record`. */
function tracingProcess() {
  let write: WriteTraces | undefined
  const graph = { useTraces: (given: WriteTraces) => {
    write = given
  } } as unknown as GraphProcess
  const record = async () =>
    write?.({ tenant: 'acme@shop', form: 'recording', runId: 'r', startedAtMs: 0, no: 0, days: 1,
      body: new Uint8Array() })
  return { graph, record }
}

it('writes traces with the id of the deployment that a process was started for', async () => {
  const [old, next] = [tracingProcess(), tracingProcess()]
  const wiring = new HostWiring(() => [['shop', old.graph], ['shop', next.graph]])
  const written: (string | undefined)[] = []
  const write: WriteTraces = async (_, deployment) => void written.push(deployment)
  await wiring.wire({ id: 'first', name: 'shop' }, old.graph)
  wiring.use.useTraces(write)
  await wiring.wire({ id: 'second', name: 'shop' }, next.graph)
  await old.record()
  await next.record()
  expect(written).toEqual(['first', 'second'])
})
