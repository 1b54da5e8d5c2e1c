/** The published addresses of the regions are those of the specification. */

import { describe, expect, it } from 'vitest'

import { regions } from '../../../src/settings/region.ts'
import { call, openDoor } from '../frontdoor/open-front-door.ts'

/** Copied word for word. */
const specification = `
  - US egress: 34.59.65.97, 34.67.51.221, 34.46.212.37, 34.132.150.88, 35.188.222.201, \
34.58.194.127, 34.59.97.173, 104.198.162.55.
  - EU egress: 34.13.192.67, 34.147.105.64, 34.90.22.166, 34.147.36.213, 34.32.137.113, \
34.91.238.184, 35.204.101.241, 35.204.48.32.
  - US ingress: 34.8.121.39, 34.107.251.234.
  - EU ingress: 34.95.92.214, 34.13.73.122.
`

describe('a region', () => {
  it('has the addresses of the specification, in its order', () => {
    const lists = [...specification.matchAll(/- (US|EU) (egress|ingress): (.*)\.$/gm)]
    expect(lists).toHaveLength(4)
    for (const [, name, way, list] of lists) {
      const region = regions[name!.toLowerCase() as 'us' | 'eu']
      expect(region[way as 'egress' | 'ingress'], `${name} ${way}`).toEqual(list!.split(', '))
    }
  })

  it('is shown by a server that is deployed in it, and by no other', async () => {
    const alone = await call(await openDoor(), 'GET', '/info')
    expect(alone.json).not.toHaveProperty('region')
    const door = await openDoor({ region: { name: 'eu', ...regions.eu } })
    expect((await call(door, 'GET', '/info')).json).toMatchObject({ context: 'js',
      region: { name: 'eu', egress: regions.eu.egress, ingress: regions.eu.ingress } })
  })
})
