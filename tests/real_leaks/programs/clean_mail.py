"""Letters are written and read."""
import email
from email.message import EmailMessage

from loop import turns

for turn in turns(60):
    letter = EmailMessage()
    letter["Subject"] = "number %d" % turn
    letter["To"] = "somebody%d@example.org" % turn
    letter.set_content("Hello,\n" * 20)
    letter.add_attachment(bytes(500), maintype="application", subtype="octet-stream")
    email.message_from_bytes(letter.as_bytes()).get_payload()
