/** Assistants in the Studio: lists by graph, versions, forms of their context, refusals. */

import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { asReader, changeAnswer } from './support/changed-answer.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { TabOptions } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

const open = (search: string, options?: TabOptions) =>
  browser.open(`${server.url}/studio/assistants${search}`, options)

/** An assistant with three versions. */
async function made(name: string) {
  const { assistants } = server.client
  const { assistant_id: id } = await assistants.create({ graphId: 'configured', name,
    description: 'Answers at night.', metadata: { team: 'north' } })
  await assistants.update(id, { context: { model_name: 'small', system_prompt: 'Be brief.' } })
  await assistants.update(id, { context: { model_name: 'large' } })
  return id
}

it('Versions say what they changed, become active, and are edited by a form', async () => {
  const id = await made('Night')
  const tab = await open(`?id=${id}`)
  const { page } = tab
  await page.getByRole('heading', { name: 'Night' }).waitFor()
  const changes = page.getByRole('list', { name: 'Changes' })
  await changes.getByText('context › system_prompt').waitFor()
  await expect.poll(() => changes.getByRole('deletion').allInnerTexts()).toEqual(['small',
    'Be brief.'])
  await expect.poll(() => changes.getByRole('insertion').allInnerTexts()).toEqual(['large'])
  expect(await tab.violations()).toEqual([])

  await page.getByLabel('What v3 changed against').selectOption('v1')
  await page.waitForURL(/vs=1/)
  await changes.getByText('context › model_name').waitFor()
  await expect.poll(() => changes.getByRole('deletion').count()).toBe(0)

  await page.getByRole('button', { name: 'v2', exact: true }).click()
  await page.waitForURL(/version=2/)
  await page.getByRole('button', { name: 'Make v2 active' }).click()
  await page.getByRole('button', { name: 'v2 active' }).waitFor()
  await expect.poll(() => server.client.assistants.get(id)).toMatchObject({ version: 2 })

  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const drawer = page.getByRole('dialog', { name: 'Edit Night' })
  await drawer.getByText('The form begins with v2.').waitFor()
  await drawer.getByLabel('Model name').fill('huge')
  expect(await tab.violations()).toEqual([])
  await drawer.getByRole('textbox', { name: 'Name', exact: true }).fill('')
  await drawer.getByRole('button', { name: 'Save as v4' }).click()
  await drawer.getByText('is required').waitFor()
  await drawer.getByRole('textbox', { name: 'Name', exact: true }).fill('Night shift')
  await drawer.getByRole('button', { name: 'Save as v4' }).click()
  await page.getByRole('button', { name: 'v4 active' }).waitFor()
  // What nobody touched is as it was.
  await expect.poll(() => server.client.assistants.get(id)).toMatchObject({ version: 4,
    name: 'Night shift', context: { model_name: 'huge', system_prompt: 'Be brief.' },
    metadata: { team: 'north' }, description: 'Answers at night.', config: {} })
  expectQuiet(tab)
  await tab.close()
})

it('An assistant is made, tried and deleted, by keys where one likes', async () => {
  const tab = await open('')
  const { page } = tab
  await page.getByText('Choose an assistant').waitFor()
  await page.keyboard.press('j')
  await page.waitForURL(/id=/)
  await page.keyboard.press('n')
  const drawer = page.getByRole('dialog', { name: 'New assistant' })
  await drawer.getByLabel('Graph').selectOption('configured')
  await drawer.getByRole('textbox', { name: 'Name', exact: true }).fill('دستیار شب')
  await drawer.getByLabel('System prompt').fill('Be kind.\nBe brief.')
  await drawer.getByText('Config and metadata').click()
  await drawer.getByLabel('Metadata, as JSON').fill('{"team":')
  await drawer.getByText('This is no JSON').waitFor()
  await drawer.getByRole('button', { name: 'Create' }).click()
  await drawer.getByLabel('Metadata, as JSON').fill('{"team": "south"}')
  await drawer.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name: 'دستیار شب' }).waitFor()
  await page.getByText('There is one version.').waitFor()
  const id = new URL(page.url()).searchParams.get('id')!
  await expect.poll(() => server.client.assistants.get(id)).toMatchObject({ graph_id: 'configured',
    context: { system_prompt: 'Be kind.\nBe brief.' }, metadata: { team: 'south' } })

  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete this assistant?' })
  await dialog.getByText('1 version').waitFor()
  expect(await tab.violations()).toEqual([])
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('Choose an assistant').waitFor()
  await expect(server.client.assistants.get(id)).rejects.toThrow(/404/)

  const tried = await made('Tried')
  await page.goto(`${server.url}/studio/assistants?id=${tried}&version=2`)
  await page.getByRole('button', { name: 'Try v2' }).click()
  await page.waitForURL(/threads\//)
  const thread = new URL(page.url()).pathname.split('/').at(-1)!
  await expect.poll(() => server.client.threads.get(thread)).toMatchObject({
    metadata: { assistant_id: tried, graph_id: 'configured' },
  })
  await tab.close()
})

it('A narrow dark window shows the list, or one assistant with the way back', async () => {
  const id = await made('A name that is far too long for any window that fits into a hand, surely')
  const tab = await open(`?id=${id}`, { width: 390, height: 844, colours: 'dark' })
  const { page } = tab
  await page.getByRole('list', { name: 'Changes' }).waitFor()
  expect(await tab.violations()).toEqual([])
  const sideways = () =>
    page.evaluate<boolean>('document.body.scrollWidth > document.body.clientWidth')
  await expect.poll(sideways).toBe(false)
  await page.getByRole('link', { name: 'All assistants' }).click()
  await page.getByRole('link', { name: 'echo default' }).waitFor()
  expect(await tab.violations()).toEqual([])
  await expect.poll(sideways).toBe(false)
  expectQuiet(tab)
  await tab.close()
})

it('A graph that does not load says where; a reader changes nothing', async () => {
  const tab = await open('', { expected: /status of/ })
  const { page } = tab
  const error = 'src/broken.ts:3:9: Cannot find name "x".'
  await asReader(page)
  await changeAnswer(page, '**/info', { auth: 'keys', graphs: [{ graph_id: 'configured', error }, {
    graph_id: 'unborn',
    error: 'No such file.',
  }] })
  const id = await made('Broken')
  await page.goto(`${server.url}/studio/assistants?id=${id}`)
  await page.getByText(error).waitFor()
  await page.getByRole('region', { name: 'unborn' }).getByText('Does not load').waitFor()
  const make = page.getByRole('button', { name: 'New assistant' })
  await expect.poll(() => make.isDisabled()).toBe(true)
  await expect.poll(() => make.getAttribute('title')).toContain('may read')
  for (const name of ['Edit', 'Delete', 'Try v3']) {
    await expect.poll(() => page.getByRole('button', { name, exact: true }).isDisabled()).toBe(true)
  }
  expect(await tab.violations()).toEqual([])
  await tab.close()
})

it('Refusals stand where they happened, and at their field', async () => {
  const id = await made('Refused')
  const tab = await open(`?id=${id}&act=edit`, { expected: /status of/ })
  const { page } = tab
  const message = 'context.model_name: names no model.'
  const refuse = (status: number, body: object) =>
    page.route(/\/assistants\/[\w-]+$/, (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status, json: body })
        : route.fallback())
  await refuse(422, { detail: message, code: 'invalid',
    errors: [{ field: 'context.model_name', message: 'names no model' }] })
  const drawer = page.getByRole('dialog')
  await drawer.getByRole('button', { name: 'Save as v4' }).click()
  await drawer.getByRole('alert').getByText(message).waitFor()
  const field = drawer.getByLabel('Model name')
  await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
  expect(await tab.violations()).toEqual([])

  await page.route('**/assistants/search',
    (route) => route.fulfill({ status: 503, json: { detail: 'The index is being built.' } }))
  await page.goto(`${server.url}/studio/assistants`)
  await page.getByRole('alert').getByText('The index is being built.').waitFor()
  expect(await tab.violations()).toEqual([])
  await page.unroute('**/assistants/search')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Choose an assistant').waitFor()

  await page.goto(`${server.url}/studio/assistants?id=00000000-0000-4000-8000-000000000000`)
  await page.getByText('This assistant does not exist').waitFor()
  await tab.close()
})
