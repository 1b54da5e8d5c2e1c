/** Errors in the form that clients of the platform read. */

import { expect, it } from 'vitest'

import { openDoor, plainStatus } from '../open-front-door.ts'
import { platformDoor } from './platform-door.ts'

it.each(['/api/v1/nothing', '/api/v2/nothing', '/nothing'])(
  'What does not exist is answered as clients of the platform read it: %s',
  async (path) => {
    const { send } = await platformDoor()
    const { status, headers, json } = await send('GET', path)
    const message = `There is no GET ${path}; /docs lists what there is.`
    expect(status).toBe(404)
    expect(json).toMatchObject({ error: message, detail: message, message })
    const isProblem = path.startsWith('/api/v2')
    expect(json['title']).toBe(isProblem ? 'not found' : undefined)
    expect(headers.get('content-type'))
      .toBe(`application/${isProblem ? 'problem+' : ''}json; charset=utf-8`)
  },
)

it('Paths that programs read in different ways are refused at both ports.', async () => {
  const { url, platformUrl } = await openDoor({ platformPort: 0 })
  for (const each of [url, platformUrl!]) {
    expect(await plainStatus(each, '/api/v1/%2F/../sessions')).toBe(400)
  }
})
