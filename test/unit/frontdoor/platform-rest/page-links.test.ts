/** Each address that a client prints leads to the page of the Studio that shows the same. */

import { expect, it } from 'vitest'

import { platformDoor } from './platform-door.ts'

const [tenant, project, run, trace, token] = ['1', '2', '3', '4', '5'].map((digit) =>
  `${digit.repeat(8)}-1111-4111-8111-111111111111`
)

const led = async (url: string): Promise<[number, string]> => {
  const { status, headers } = await fetch(url, { redirect: 'manual' })
  const location = headers.get('location')
  return [status, location === null ? '' : new URL(location, url).href]
}

const links = [
  [`/o/${tenant}/projects/p/${project}`, `/traces/${project}`],
  [`/o/${tenant}/projects/p/${project}/`, `/traces/${project}`],
  [`/o/${tenant}/projects/p/${project}/r/${run}?trace_id=${trace}&start_time=2026`,
    `/traces/${project}/${trace}?span=${run}`],
  [`/o/${tenant}/projects/p/${project}/r/${run}?trace_id=${run}`, `/traces/${project}/${run}`],
  [`/o/${tenant}/projects/p/${project}/r/${run}?poll=true`, `/traces/-/${run}`],
  [`/o/${tenant}/datasets/${project}`, `/datasets/${project}`],
  [`/o/${tenant}/datasets/${project}/compare?selectedSessions=${run}%2C${trace}`,
    `/datasets/${project}?view=experiments&compare=${run}%2C${trace}`],
  [`/o/${tenant}`, '/traces'],
  [`/o/${tenant}/host/deployments/${project}`, '/deployments'],
  [`/public/${token}/r`, `/public/${token}`],
  [`/public/${token}/d`, `/public/${token}/d`],
  ['/prompts/joke/0123abcd?organizationId=1', '/prompts/joke?at=0123abcd'],
  ['/prompts/joke', '/prompts/joke'],
  ['/context/skill/0123abcd', '/prompts/skill?at=0123abcd'],
  ['/hub/acme/joke:0123abcd', '/prompts/acme%2Fjoke?at=0123abcd'],
  ['/hub/-/joke/0123abcd', '/prompts/joke?at=0123abcd'],
]

it('Each leads to its page, without a key', async () => {
  const { url } = await platformDoor()
  const found = await Promise.all(links.map(async ([link]) => [link, ...await led(url + link!)]))
  expect(found).toEqual(links.map(([link, page]) => [link, 302, `${url}/studio${page}`]))
})

it('Links hold where a proxy has moved the server, and lead to no other host', async () => {
  const { url } = await platformDoor()
  const { headers } = await fetch(`${url}/o/${tenant}/projects/p/${project}`, {
    redirect: 'manual',
  })
  const location = headers.get('location')!
  expect(new URL(location, `https://proxy.example/moved/o/${tenant}/projects/p/${project}`).href)
    .toBe(`https://proxy.example/moved/studio/traces/${project}`)
  for (const name of ['..%2F..%2Fevil', '%5C%5Cevil.example', 'https:%2F%2Fevil.example']) {
    const [, to] = await led(`${url}/prompts/${name}`)
    expect(to === '' || to.startsWith(`${url}/studio/prompts/`)).toBe(true)
  }
})
