import { Client } from '@langchain/langgraph-sdk'
const cs=[1,2,3].map(i=>new Client({apiUrl:`http://127.0.0.1:301${i}`, callerOptions:{maxRetries:0}}))
const t0=Date.now()
const ids=[]
for(let i=0;i<30;i++){ const c=cs[i%3]; const t=await c.threads.create({metadata:{smoke:'a'+process.pid}}); ids.push(t.thread_id)
  const r=await cs[(i+1)%3].runs.wait(t.thread_id,'echo',{input:{messages:[{role:'user',content:'hi'}]}}) ; if(!r.messages||r.messages.length!==2) console.log('bad',JSON.stringify(r)) }
console.log('30 threads', Date.now()-t0,'ms')
for(const c of cs){ const s=Date.now(); const f=await c.threads.search({metadata:{smoke:'a'+process.pid},limit:100}); console.log('found',f.length,Date.now()-s,'ms', (await c.threads.count({metadata:{smoke:'a'+process.pid}}))) }
const page=[]; for(let o=0;o<30;o+=7){ page.push(...(await cs[1].threads.search({metadata:{smoke:'a'+process.pid},limit:7,offset:o,sortBy:'created_at',sortOrder:'asc'})).map(t=>t.thread_id)) }
console.log('paged same order', JSON.stringify(page)===JSON.stringify(ids))
// streams
for(let k=0;k<3;k++){ const ev=[]; const s=Date.now(); for await(const e of cs[k].runs.stream(ids[0],'echo',{input:{messages:[{role:'user',content:'again'}]},streamMode:'updates'})) ev.push(e.event); console.log(k,ev.join(','),Date.now()-s) }
for(let k=0;k<3;k++){ const ms=[]; for(let i=0;i<20;i++){const s=performance.now(); await cs[k].threads.getState(ids[3]); ms.push(performance.now()-s)}; ms.sort((a,b)=>a-b); console.log('state via',k,ms[10].toFixed(1)) }
console.log('assistants', (await cs[2].assistants.search({limit:100})).length)
