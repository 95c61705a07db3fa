// A cabinet's host made of a public SSP library: node host.js PORT VERSION ENCRYPT REJECT_PENCE
// One line of JSON for each thing that it learns; ends when its standard input does.
const crypto = require('crypto');
const Module = require('module');
const { SerialPort } = require('serialport');

// The library was written for an older serialport, whose constructor took the path by itself.
class OldSerialPort extends SerialPort {
  constructor(path, options) {
    super({ path, baudRate: options.baudRate, dataBits: 8, stopBits: 1, parity: 'none', autoOpen: options.autoOpen });
  }
}
// It draws its small primes by way of a Diffie-Hellman group, which OpenSSL refuses to make that small by now.
crypto.createDiffieHellman = bits => ({ getPrime: () => Buffer.from(crypto.generatePrimeSync(bits)) });
const load = Module._load;
Module._load = (request, ...rest) => (request === 'serialport' ? OldSerialPort : load(request, ...rest));
const SSP = require('encrypted-smiley-secure-protocol');
Module._load = load;

const [path, version, encrypt, rejected] = process.argv.slice(2);
const say = (what, info) => console.log(JSON.stringify({ what, ...info }));
const host = new SSP({ id: 0, timeout: 1000, fixedKey: '0123456701234567' });
let values = [];

const told = ['SLAVE_RESET', 'NOTE_REJECTED', 'NOTE_STACKING', 'CREDIT_NOTE', 'NOTE_STACKED', 'STACKER_FULL',
  'CASHBOX_REMOVED', 'CASHBOX_REPLACED', 'SAFE_NOTE_JAM', 'UNSAFE_NOTE_JAM', 'FRAUD_ATTEMPT', 'NOTE_PATH_OPEN',
  'NOTE_CLEARED_FROM_FRONT', 'NOTE_CLEARED_TO_CASHBOX', 'DISABLED', 'CHANNEL_DISABLE'];
for (const name of told) host.on(name, info => say(name, { channel: info.channel }));
host.on('READ_NOTE', info => {
  say('READ_NOTE', { channel: info.channel });
  if (info.channel && values[info.channel - 1] * 100 === Number(rejected)) {
    host.command('REJECT_BANKNOTE').then(answer => say('REJECT_BANKNOTE', { status: answer.status }));
  }
});

async function main() {
  await host.open(path, { baudRate: 9600 });
  const ask = async (name, args) => {
    const answer = await host.command(name, args);
    say(name, { status: answer.status, info: answer.info });
    return answer;
  };
  await ask('SYNC');
  await ask('HOST_PROTOCOL_VERSION', { version: Number(version) });
  if (encrypt === 'yes') {
    await host.initEncryption();
    say('KEYS', {});
  }
  await ask('GET_SERIAL_NUMBER');
  const setup = await ask('SETUP_REQUEST');
  values = setup.info.expanded_channel_value || setup.info.channel_value;
  await ask('UNIT_DATA');
  await ask('SET_CHANNEL_INHIBITS', { channels: [1, 1, 1, 1, 0, 0, 0, 0] });
  const enabled = await host.enable();
  say('ENABLE', { status: enabled.status });
}

process.stdin.on('end', () => process.exit(0)).resume();
main().catch(error => { say('ERROR', { text: String(error) }); process.exit(1); });
