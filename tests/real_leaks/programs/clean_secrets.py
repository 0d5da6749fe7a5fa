"""Messages are encrypted and decrypted."""
from cryptography.fernet import Fernet

from loop import turns

box = Fernet(Fernet.generate_key())
for turn in turns(60):
    for n in range(10):
        box.decrypt(box.encrypt(b"message %d of %d" % (n, turn)))
